/**
 * Builds everything that a release consists of into dist/release, and uploads nothing:
 *
 *     hack/release/main.ts VERSION [--platforms linux/amd64,linux/arm64] [--no-images] [--allow-dirty]
 *
 * The npm package, the Helm chart, images as OCI archives, the software bill of materials, the changes since the previous tag, and
 * the checksums of all of them. Two runs on the same commit write the same files.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { changesSince } from './changes.ts';
import { imagesIn } from './images.ts';
import { archive, output, ReleaseError, run } from './run.ts';

const root = join(import.meta.dirname, '../..');
const target = join(root, 'dist/release');
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function release(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      platforms: { type: 'string', default: '' },
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
  const task = { root, target, version, date, platforms };
  for (const line of values['no-images'] ? ['no images, as requested'] : imagesIn(task)) say(line);
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
  const args = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx'];
  const sbom = output(process.execPath, ['hack/image/sbom.mjs'], output('npm', args));
  writeFileSync(join(target, `espalier-${version}.cdx.json`), sbom);
}

function writeChecksums(): void {
  const lines = readdirSync(target)
    .sort()
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(target, file)))
          .digest('hex')}  ${file}\n`,
    );
  writeFileSync(join(target, 'SHA256SUMS'), lines.join(''));
}

try {
  await release();
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = 1;
}
