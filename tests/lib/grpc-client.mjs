// SPDX-License-Identifier: MIT
// grpc-client.mjs - @grpc/grpc-js at wardbox serve: PROTO TARGET [CERTIFICATE]. KEY and
// VIEW are keys. Says "ok" at the end.
import grpc from '@grpc/grpc-js';
import loader from '@grpc/proto-loader';
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
const [proto, target, pem] = process.argv.slice(2);
const { wardbox } = grpc.loadPackageDefinition(loader.loadSync(proto, { keepCase: true, longs: Number, defaults: true, oneofs: true }));
const creds = pem ? grpc.credentials.createSsl(readFileSync(pem)) : grpc.credentials.createInsecure();
const client = new wardbox.v1.Terminal(target, creds);

function talk(key, first, options = {}) {
  const meta = new grpc.Metadata();
  if (key) meta.set('authorization', 'Bearer ' + key);
  const call = client.Run(meta, options), t = { call, out: '', last: null, waits: [] };
  t.end = new Promise(r => {
    call.on('error', e => r(grpc.status[e.code]));
    call.on('end', () => setImmediate(() => r('OK')));
  });
  call.on('data', m => {
    if (m.output) t.out += m.output.data;
    t.last = m;
    for (const w of t.waits) w();
  });
  t.until = text => new Promise(r => {
    const look = () => t.out.includes(text) && r();
    t.waits.push(look);
    look();
  });
  call.write(first);
  return t;
}
const start = what => ({ start: { session_id: 's', ...what } });
const { KEY, VIEW } = process.env;

let t = talk(KEY, start({ text: 'stty size; read a; stty size; echo $a; trap "exit 9" INT; echo up; read b', rows: 40, cols: 100 }));
await t.until('40 100');
t.call.write({ resize: { rows: 50, cols: 120 } });
t.call.write({ stdin: { data: Buffer.from('key\r') } });
await t.until('50 120');
await t.until('up');
t.call.write({ signal: { name: 'INT' } });
assert.equal(await t.end, 'OK');
assert.equal(t.last.exit.exit_code, 9);

t = talk(KEY, start({ command: 'sh', args: ['-c', 'cat; exit 7'], pipes: true }));
t.call.write({ stdin: { data: Buffer.from('in\n') } });
t.call.end();
assert.equal(await t.end, 'OK');
assert.deepEqual([t.out, t.last.exit.exit_code], ['in\n', 7]);

t = talk(KEY, start({ command: 'touch', args: ['forbidden'] }));
assert.equal(await t.end, 'OK');
assert.deepEqual([t.last.exit.exit_code, t.last.exit.state, t.last.exit.rule], [126, 'denied', 'forbidden']);

assert.equal(await talk('', start({ text: 'true' })).end, 'UNAUTHENTICATED');
assert.equal(await talk(VIEW, start({ text: 'true' })).end, 'PERMISSION_DENIED');
assert.equal(await talk(KEY, start({})).end, 'INVALID_ARGUMENT');
t = talk(KEY, start({ text: 'echo up; exec sleep 1000', pipes: true }), { deadline: Date.now() + 2000 });
assert.equal(await t.end, 'DEADLINE_EXCEEDED');
t = talk(KEY, start({ text: 'echo up; exec sleep 1000', pipes: true }));
await t.until('up');
t.call.cancel();
assert.equal(await t.end, 'CANCELLED');

// A reader that is slow: nothing is lost.
t = talk(KEY, start({ text: 'head -c 20000000 /dev/zero', pipes: true }));
await t.until('\0');
t.call.pause();
assert.equal(await talk(KEY, start({ text: 'true' })).end, 'OK');
t.call.resume();
assert.equal(await t.end, 'OK');
assert.equal(t.out.length, 20000000);
client.close();
console.log('ok');
