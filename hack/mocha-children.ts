/**
 * Ends the process of the tests if the one that has started it is gone, since mocha's own program may be killed alone.
 *
 * Ends all programs that tests have started, such as containers and servers, when the process of the tests ends, even
 * if it is killed. They are known by a variable of their environment, which programs that get another environment
 * need as well. Only on Linux, whose /proc shows the environment of processes.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';

const NAME = 'ESPALIER_TEST_PROCESS';

const LOOK_MS = 500;
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, LOOK_MS).unref();

/** Its standard input ends with the process of the tests. @see proc(5) */
const WATCH = `
trap "" HUP INT TERM
cat > /dev/null
for environ in $(grep -lszxF "${NAME}=$1" /proc/[0-9]*/environ); do
  pid=\${environ#/proc/}
  kill -9 "\${pid%/environ}"
done 2> /dev/null`;

if (process.platform === 'linux') {
  const { [NAME]: _, ...env } = process.env;
  const id = randomUUID();
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'sh', id], {
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.unref();
  (watcher.stdin as unknown as { unref(): void }).unref();
  process.env[NAME] = id;
}
