// Counts its runs in its state, prints what it got, and exports the count. Import values:
//   mode: fail, oom, sleep or disk; without one it succeeds. onDelete: fail
//   seconds: for sleep; stateBytes: size of another file in the state; say: exported as it is
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const { env } = process;
const read = (path) => (path && existsSync(path) ? readFileSync(path, 'utf8') : undefined);
const filesBelow = (folder, at = '') =>
  readdirSync(folder).flatMap((name) =>
    statSync(join(folder, name)).isDirectory()
      ? filesBelow(join(folder, name), `${at}${name}/`)
      : [`${at}${name}`],
  );

const imports = JSON.parse(read(env.IMPORTS_PATH) ?? '{}');
const counter = join(env.STATE_PATH, 'deep', 'count');
const count = Number(read(counter) ?? 0) + 1;
mkdirSync(join(env.STATE_PATH, 'deep'), { recursive: true });
writeFileSync(counter, String(count), { mode: 0o640 });
if (imports.stateBytes) writeFileSync(join(env.STATE_PATH, 'large'), Buffer.alloc(imports.stateBytes, 'x'));

const got = {
  operation: env.OPERATION,
  count,
  user: process.getuid(),
  group: process.getgid(),
  groups: process.getgroups(),
  content: filesBelow(env.CONTENT_PATH),
  state: filesBelow(env.STATE_PATH),
  target: JSON.parse(read(env.TARGET_PATH) ?? 'null'),
  components: JSON.parse(read(env.COMPONENT_DESCRIPTOR_PATH) ?? '{"components": []}').components.map(
    ({ component }) => component?.name,
  ),
  pod: `${env.POD_NAMESPACE}/${env.POD_NAME}`,
  hasToken: existsSync('/var/run/secrets/kubernetes.io/serviceaccount/token'),
  say: imports.say ?? null,
};
console.log(`run ${count}: ${env.OPERATION}`);

let isEnding = false;
process.on('SIGTERM', () => {
  isEnding = true;
});
const mode = env.OPERATION === 'DELETE' ? imports.onDelete : imports.mode;
if (mode === 'fail') {
  console.log('the reason of the failure');
  process.exit(3);
}
if (mode === 'oom') for (const all = []; ;) all.push(Buffer.alloc(16 << 20, 1));
if (mode === 'disk')
  for (let i = 0; !isEnding; i++) {
    writeFileSync(join(env.STATE_PATH, `file-${i % 8}`), Buffer.alloc(8 << 20, 1));
    await pause(100);
  }
if (mode === 'sleep') {
  for (const end = Date.now() + imports.seconds * 1000; Date.now() < end && !isEnding;) await pause(100);
  if (isEnding) {
    writeFileSync(join(env.STATE_PATH, 'ended-early'), 'yes');
    process.exit(143);
  }
}
writeFileSync(env.EXPORTS_PATH, JSON.stringify(got));
