// SPDX-License-Identifier: MIT
// mcp-clients.mjs - the official clients of both majors, at WARDBOX mcp, or with URL and
// KEY at a server by HTTP: each runs a command, is told of progress, is denied one, and cancels one.
import { Client as One } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OneStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OneHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as Two, StreamableHTTPClientTransport as TwoHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as TwoStdio } from '@modelcontextprotocol/client/stdio';
import assert from 'node:assert';
const command = process.env.WARDBOX, args = ['mcp'];
const env = process.env, url = env.URL && new URL(env.URL);
const head = { requestInit: { headers: { Authorization: `Bearer ${env.KEY}` } } };
const one = () => url ? new OneHttp(url, head) : new OneStdio({ command, args, env });
const two = () => url ? new TwoHttp(url, head) : new TwoStdio({ command, args, env });
async function way(name, client, transport, call) {
  await client.connect(transport);
  const tools = await client.listTools();
  assert(tools.tools.some(t => t.name === 'run'), name);
  const seen = [];
  const r = await call(client, { name: 'run', arguments: { text: 'echo hi; sleep 2.2; exit 3' } }, { onprogress: p => seen.push(p) });
  assert.deepEqual([r.structuredContent.stdout, r.structuredContent.exit_code], ['hi\n', 3], name);
  assert(seen.length >= 1, name + ': progress');
  const d = await call(client, { name: 'run', arguments: { text: 'touch forbidden' } }, {});
  assert(d.isError && d.structuredContent.state === 'denied', name);
  const stop = new AbortController();
  const c = call(client, { name: 'run', arguments: { text: 'sleep 1000' } }, { signal: stop.signal });
  c.catch(() => {});
  let l;
  do { l = await call(client, { name: 'list', arguments: {} }, {}); } while (l.structuredContent.commands[0].state !== 'running');
  stop.abort();
  await assert.rejects(c);
  do { l = await call(client, { name: 'read', arguments: { id: l.structuredContent.commands?.[0].id ?? l.structuredContent.id, wait: 10 } }, {}); } while (l.structuredContent.state === 'running');
  assert.equal(l.structuredContent.signal, 'TERM', name);
  console.log('ok', name, client.getNegotiatedProtocolVersion?.() ?? '');
  await client.close();
}
const info = { name: 'test', version: '1' };
await way('sdk 1', new One(info), one(), (c, p, o) => c.callTool(p, undefined, o));
for (const [n, v] of [['legacy', { mode: 'legacy' }], ['auto', { mode: 'auto' }], ['pinned', { mode: { pin: '2026-07-28' } }]])
  await way('client 2 ' + n, new Two(info, { versionNegotiation: v }), two(), (c, p, o) => c.callTool(p, o));
// A question of the policy: the client opens its page for a person, who says yes.
if (url) {
  const asks = new Two(info, { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: { elicitation: { url: {} } } });
  asks.setRequestHandler('elicitation/create', async ({ params }) => {
    assert.equal(params.mode, 'url');
    assert.match(await (await fetch(params.url)).text(), /touch asked/);
    assert((await fetch(params.url, { method: 'POST', body: new URLSearchParams({ answer: 'yes' }) })).ok);
    return { action: 'accept' };
  });
  await asks.connect(two());
  const r = await asks.callTool({ name: 'run', arguments: { text: 'touch asked; echo $?' } });
  assert.equal(r.structuredContent.stdout, '0\n');
  console.log('ok page');
  await asks.close();
}
