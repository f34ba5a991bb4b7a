/** The images of the cluster, built without a registry to pull from. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execute } from './machine.ts';
import { writeOperatorProject } from './operator-project.ts';
import { programPath, type ProgramName } from './programs.ts';
import { EARLIER_COMMIT, folders, images, REGISTRY } from './settings.ts';

const ROOT = join(import.meta.dirname, '../..');
const UNPRIVILEGED_USER = '65535:65535';

/** Images of one program each; the user of CoreDNS may bind port 53, as in the original image. */
const PROGRAM_IMAGES: readonly {
  readonly image: string;
  readonly program: ProgramName;
  readonly user: string;
}[] = [
  { image: images.pause, program: 'pause', user: UNPRIVILEGED_USER },
  { image: images.coredns, program: 'coredns', user: '0:0' },
  ...images.standIns.map((image) => ({ image, program: 'stand-in' as const, user: UNPRIVILEGED_USER })),
];

/**
 * Builds images; layers that have not changed are taken from the last time.
 * @param withOperator also the image of a new operator, which needs the npm registry
 */
export function buildImages({ withOperator }: { readonly withOperator: boolean }): void {
  const version = /^ARG NODE_IMAGE=node:([\d.]+)-slim$/m.exec(
    readFileSync(join(ROOT, 'Dockerfile'), 'utf8'),
  )?.[1];
  if (version === undefined) throw new Error('the Dockerfile does not name a version of the node image');
  const node = execute(process.execPath, [join(ROOT, 'hack/node-lts.mjs'), version]).trim();
  run('base', images.node(version), node);
  run('build', images.product, ROOT);
  if (hasEarlierCommit()) {
    run('earlier', images.earlier, EARLIER_COMMIT);
    if (!existsSync(folders.earlier)) run('unpack', images.earlier, folders.earlier);
  }
  run('build', images.job, join(import.meta.dirname, 'job'), `PRODUCT_IMAGE=${images.product}`);
  if (withOperator) {
    writeOperatorProject();
    run('build', images.operator, folders.operator, `NODE_IMAGE=${images.node(version)}`);
  } else {
    // Only an image that was built now is pushed.
    rmSync(folders.operator, { recursive: true, force: true });
  }
  for (const { image, program, user } of PROGRAM_IMAGES) run('program', image, programPath(program), user);
}

/** A shallow clone does not have it. */
const hasEarlierCommit = (): boolean =>
  spawnSync('git', ['cat-file', '-e', `${EARLIER_COMMIT}^{commit}`], { cwd: ROOT, stdio: 'ignore' })
    .status === 0;

/** Pushes images to the registry of the running node, from which containerd pulls them. */
export function pushImages(): void {
  const products = [
    images.product,
    images.job,
    ...(existsSync(folders.operator) ? [images.operator] : []),
    ...(existsSync(folders.earlier) ? [images.earlier] : []),
  ];
  for (const image of [...PROGRAM_IMAGES.map((each) => each.image), ...products])
    run('push', image, REGISTRY);
}

function run(command: string, ...args: readonly string[]): void {
  execute(join(import.meta.dirname, 'images.sh'), [command, ...args], {
    cwd: ROOT,
    env: { ...process.env, STORE: folders.images },
  });
}
