/**
 * Builds everything that a release consists of into dist/release, and uploads nothing:
 *
 *     hack/release/main.ts VERSION [--platforms linux/amd64,linux/arm64] [--node-image IMAGE] [--no-images] [--allow-dirty]
 *
 * The npm package, the Helm chart, images as OCI archives, the software bill of materials, the changes since the previous tag, the
 * provenance, and the checksums of all of them. Two runs on the same commit write the same files.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { changesSince } from './changes.ts';
import { digestOfBase, imagesIn, type ImageTask } from './images.ts';
import { baseOf, provenanceOf, sha256 } from './provenance.ts';
import { archive, output, ReleaseError, run } from './run.ts';

const root = join(import.meta.dirname, '../..');
const target = join(root, 'dist/release');
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function release(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      platforms: { type: 'string', default: '' },
      'node-image': { type: 'string' },
      'no-images': { type: 'boolean', default: false },
      'allow-dirty': { type: 'boolean', default: false },
    },
  });
  const [version = ''] = positionals;
  checkVersion(version);
  if (!values['allow-dirty']) checkTree();
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  // The dates of archives are that of the commit, so that they depend on nothing else.
  const date = output('git', ['log', '-1', '--format=%ct']).trim();
  packPackage();
  packChart(version, date);
  writeBillOfMaterials(version);
  writeFileSync(join(target, 'CHANGES.md'), changesSince(version));
  const platforms = values.platforms.split(',').filter((platform) => platform !== '');
  const nodeImage = values['node-image'] ?? baseOf(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? '';
  const task = { root, target, version, date, platforms, nodeImage };
  const reasons = values['no-images'] ? ['no images, as requested'] : imagesIn(task);
  for (const line of reasons) say(line);
  writeProvenance(task, reasons.length === 0);
  writeChecksums();
  for (const file of readdirSync(target).sort()) say(`  dist/release/${file}`);
}

/** @throws ReleaseError */
function checkVersion(version: string): void {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    throw new ReleaseError(`"${version}" is not a version; run: make release VERSION=1.2.3`);
  const { version: current } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  if (version === current) return;
  throw new ReleaseError(
    `package.json has version ${current}, not ${version}; run: npm version --no-git-tag-version ${version}, then commit`,
  );
}

/** @throws ReleaseError */
function checkTree(): void {
  const changed = output('git', ['status', '--porcelain']).trim();
  if (changed === '') return;
  throw new ReleaseError(
    `the working tree has changes that no commit contains; commit them, or pass --allow-dirty:\n${changed}`,
  );
}

function packPackage(): void {
  run('npm', ['pack', '--silent', '--pack-destination', target], root);
}

function packChart(version: string, date: string): void {
  const chart = 'charts/espalier';
  if (!existsSync(join(root, chart))) {
    say('no chart: there is no folder charts/espalier');
    return;
  }
  const file = join(target, `espalier-chart-${version}.tar`);
  archive(file, { folder: join(root, 'charts'), entry: 'espalier', date });
  run('gzip', ['--no-name', '--best', '--suffix', '.gz', file], root);
}

function writeBillOfMaterials(version: string): void {
  const all = output('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx']);
  const sbom = output(process.execPath, ['hack/image/sbom.mjs', 'dist/bundled.json'], all);
  writeFileSync(join(target, `espalier-${version}.cdx.json`), sbom);
}

/** Digests of all files so far. */
const digests = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(target)
      .sort()
      .map((file) => [file, sha256(readFileSync(join(target, file)))]),
  );

function writeProvenance({ version, platforms, nodeImage }: ImageTask, hasImages: boolean): void {
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    repository?: { url: string };
  };
  const digest = hasImages ? digestOfBase(nodeImage) : undefined;
  const statement = provenanceOf(digests(), {
    version,
    platforms: hasImages ? platforms : [],
    repository: repository?.url,
    commit: output('git', ['rev-parse', 'HEAD']).trim(),
    lockFile: readFileSync(join(root, 'package-lock.json'), 'utf8'),
    base: hasImages ? { image: nodeImage, ...(digest && { digest }) } : undefined,
  });
  const file = `espalier-${version}.provenance.unsigned.json`;
  writeFileSync(join(target, file), `${JSON.stringify(statement, null, 2)}\n`);
}

function writeChecksums(): void {
  const lines = [...digests()].map(([file, digest]) => `${digest}  ${file}\n`);
  writeFileSync(join(target, 'SHA256SUMS'), lines.join(''));
}

try {
  await release();
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = 1;
}
