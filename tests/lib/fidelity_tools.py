# SPDX-License-Identifier: MIT
"""Cases of fidelity.py: what scripts and programs do by way of a shell."""
import os
import resource


def cases(f, confined, bash):
    both, c = f.both, f.c
    # A text that names paths elsewhere, a program from nowhere, an option that
    # changes how text is read.
    f.DENIED |= {"node's children", "exec of nothing", "the end of a pipeline"}

    c("a here-document", "wc -c <<'X'\n" + "a line of the text\n" * 3 + "X\n")
    both("a script of 3 MB with a here-document", lambda s: (
        open("s", "w").write("cat <<'X' | md5sum\n" + "a line of the text\n" * 160000 + "X\n"),
        f.sh(s, "./s"), os.unlink("s"))[1])
    both("two megabytes of arguments", lambda s: f.sh(
        s, "-c", 'echo $#; printf %s "$@" | wc -c', "n", *["x" * 1000] * 1900,
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_STACK, (64 << 20, resource.RLIM_INFINITY))))
    c("exec of another", "exec perl -e 'print \"perl @ARGV\\n\"; exit 9' a b")
    c("exec of nothing", "exec 2>/dev/null; exec /none; echo not here")
    c("exec of another name", "exec env -i A=b sh -c 'echo $A; exit 2'")
    c("limits it sets itself", "ulimit -n 50; ulimit -n; ulimit -f 1; ulimit -c 0; "
      "(head -c 99999 /dev/zero >big); echo $?; wc -c <big; rm big")
    c("umask and mkdir", "umask 027; mkdir -m 700 d; : >d/f; stat -c '%a %n' d d/f; rm -r d")
    c("nice of nice", "nice -n 3 nice -n 2 nice")
    c("traps of subshells", "trap 'echo out' EXIT; (trap 'echo in' EXIT; exit 3); echo $?; "
      "(exit 2); trap 'exit 8' EXIT; exit 1")
    c("a trap at a signal's end", "trap 'echo bye' EXIT; kill -TERM $$; sleep 60")
    c("wait for a killed one", "sleep 60 & kill -KILL $!; wait $!; echo $?")
    c("a pipeline's codes", "(exit 3) | (exit 4); echo $?; ! true; echo $?; yes | head -n 1; echo $?")
    c("xargs in parallel", "seq 40 | xargs -P 8 -n 5 sh -c 'echo $(($1 + $5))' n | sort")
    c("xargs that fails", "seq 3 | xargs -n 1 sh -c 'exit $((250 + $0))'; echo $?")
    c("find that executes", "mkdir d; touch d/1 d/2 d/3; find d -type f -exec sh -c 'echo $#' n {} + ; "
      "find d -type f -exec sh -c 'echo $1' n {} \\; | sort; rm -r d")
    c("like cron", "echo $HOME; echo $SHELL; pwd >/dev/null; echo $-; umask",
      env={"HOME": "/", "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin"}, start_new_session=True)
    c("like ssh", "echo a; cat; exit 3", stdin=b"sent\n", start_new_session=True)
    c("perl's backticks", "perl -e '$x = `echo a; exit 3`; print $x, $? >> 8, \"\\n\"; "
      "system(\"kill -9 \\$\\$\"); print $? & 127, \"\\n\"; open P, \"|cat\"; print P \"p\\n\"; close P'")
    c("awk's pipes", "awk 'BEGIN { while ((\"seq 3\" | getline x) > 0) print x; print \"z\" | \"cat\"; "
      "close(\"cat\"); print system(\"exit 3\") }'")
    c("busybox sh", "busybox sh -c 'echo $0 $-; echo a | busybox cat; exit 4'")
    c("env -i", "env -i /bin/sh -c 'echo \"[$HOME]\"; set | grep -c .>/dev/null; echo $?'")
    c("dd in blocks", "dd bs=1000 count=3 2>/dev/null | wc -c; wc -c", stdin=b"x" * 5000)
    c("sort of much", "seq 100000 | sort -rn | head -n 3; seq 200000 | tail -n 1")
    c("tee to both", "seq 5000 | tee f /dev/stderr | wc -l; cmp f f && rm f")
    c("timeouts of children", "timeout 0.2 sleep 60; echo $?; timeout -s KILL 0.2 sleep 60; echo $?; "
      "timeout 60 sh -c 'exit 3'; echo $?")
    c("setsid, nohup", "setsid -w sh -c 'exit 3'; echo $?; nohup sh -c 'echo a' 2>/dev/null")
    c("flock in it", "(flock 9; echo a) 9>l; flock l sh -c 'echo b; exit 3'; echo $?; rm l")
    c("a pipe to itself", "mkfifo p; (echo x >p) & cat p; wait; rm p")
    c("reads by pieces", 'IFS= read -r a; IFS=: read -r b c; echo "[$a] [$b] [$c]"; cat',
      stdin=b"  a\\b \nx:y:z\nrest")
    c("no words", 'echo $#; set -- "$@"; shift 2>/dev/null; echo $?')
    c("a tree of pipes", "seq 1000 | { sed -n 1~2p | { tac | head -n 4; }; }; "
      "{ echo a; echo b >&2; } 2>&1 >/dev/null | cat")
    both("startup files of a login", lambda s: (
        open(".profile", "w").write("echo profile $0; P=1\n"),
        f.sh(s, "-c", "echo $P", name="-sh", env={"HOME": os.getcwd(), "PATH": "/usr/bin:/bin"}),
        os.unlink(".profile"))[1]) if not confined else None
    both("-l", lambda s: (
        open(".profile", "w").write("echo profile; P=1\n"),
        f.sh(s, "-l", "-c", "echo $P", env={"HOME": os.getcwd(), "PATH": "/usr/bin:/bin"}),
        os.unlink(".profile"))[1]) if not confined else None
    node(f)
    if bash:
        of_bash(c)


def node(f):
    f.c("node's children", """exec node -e '
const cp = require("child_process"), sh = process.env.INNER || "/bin/sh";
const o = cp.spawnSync(sh, ["-c", "echo a; echo b >&2; exit 3"]);
console.log(o.status, o.signal, String(o.stdout), String(o.stderr));
const t = cp.spawnSync(sh, ["-c", "exec sleep 60"], {timeout: 300});
console.log(t.status, t.signal, t.error.code);
const k = cp.spawnSync(sh, ["-c", "head -c 9999 /dev/zero; exec sleep 60"], {maxBuffer: 1000});
console.log(k.status, k.signal, k.error.code);
const p = cp.spawn(sh, ["-c", "read x; echo got $x; exec sleep 60"]);
p.stdout.on("data", d => { console.log(String(d)); p.kill("SIGINT"); });
p.on("close", (c, s) => {
  console.log(c, s);
  const x = cp.exec("cat; echo $V", {env: {V: "v", PATH: process.env.PATH}, shell: sh},
    (e, out) => console.log(e, out));
  x.stdin.end("in\\n");
});
p.stdin.write("line\\n");
'""", wait=60)
    f.both("node starts it", lambda s: f.sh("/usr/bin/env", "node", "-e", """
const cp = require("child_process"), sh = process.argv[1];
for (const stdio of ["pipe", ["pipe", "pipe", "pipe"], ["ignore", "pipe", "ignore"]]) {
  const o = cp.spawnSync(sh, ["-c", "cat; echo a; echo b >&2; exit 3"], {stdio, input: "in"});
  console.log(o.status, o.signal, String(o.stdout), String(o.stderr));
}
try { cp.execSync("echo a; exit 4", {shell: sh}); } catch (e) { console.log(e.status, String(e.stdout)); }
for (const [cmd, opt] of [["exec sleep 60", {timeout: 300}], ["head -c 9999 /dev/zero; exec sleep 60", {maxBuffer: 1000}],
    ["exec sleep 60", {timeout: 300, killSignal: "SIGKILL"}]]) {
  const t = cp.spawnSync(sh, ["-c", cmd], opt);
  console.log(t.status, t.signal, t.error && t.error.code);
}
const p = cp.spawn(sh, ["-c", "read x; echo got $x; exec sleep 60"], {detached: true});
p.stdout.on("data", d => { console.log(String(d)); process.kill(-p.pid, "SIGTERM"); });
p.on("close", (c, s) => {
  console.log(c, s);
  const a = new AbortController();
  const q = cp.exec("echo up; exec sleep 60", {shell: sh, signal: a.signal},
    e => console.log(e.name, e.code));
  q.stdout.on("data", () => a.abort());
  const n = cp.spawn(sh, ["-c", 'exec "$0" -e "process.send([1]); process.on(\\\\"message\\\\", m => process.exit(m))"',
    process.execPath], {stdio: ["ignore", "pipe", "pipe", "ipc"]});
  n.on("message", m => { console.log(m); n.send(5); });
  n.stderr.on("data", d => console.log(String(d)));
  n.on("close", c => console.log("ipc", c));
});
p.stdin.write("line\\n");
""", s, name="node", wait=60))


def of_bash(c):
    c("coprocesses", "coproc A { read x; echo got $x; }; echo a >&${A[1]}; read y <&${A[0]}; "
      "echo $y; wait $A_PID; echo $?")
    c("wait -n -p", "(exit 3) & a=$!; sleep 60 & wait -n -p who; echo $? $((who == a)); kill %2; wait")
    c("a function that is exported", "f() { echo f $1; }; export -f f; bash -c 'f x'")
    c("processes substituted", "tee >(wc -c >n) <<<abc; wait $!; cat n; rm n; paste <(seq 3) <(seq 4 6)")
    c("the end of a pipeline", "seq 5 | while read x; do y=$x; done; echo ${y-none}; shopt -s lastpipe; "
      "seq 5 | while read x; do y=$x; done; echo ${y-none}")
    c("mapfile, printf -v", "mapfile -t a < <(seq 3); printf -v x '%03d' 7; echo ${#a[@]} $x")
    c("jobs", "set -m; sleep 60 & sleep 60 & jobs | sed 's/ *$//'; kill %1 %2; wait; echo $?")
    c("a descriptor by name", "exec {fd}>f; echo x >&$fd; exec {fd}>&-; cat f; rm f; echo $((fd >= 10))")
    c("errexit in all", "set -Eeuo pipefail; trap 'echo err $LINENO' ERR; echo a; false | true; echo no")
    c("time", "TIMEFORMAT=%0R; time true; { time -p true; } 2>&1 | wc -l")
    c("read -n, -d, -a", "read -n 3 x; read -d : y; read -a z; echo $x $y ${z[1]}", stdin=b"abcd:e f g\n")
