/** The options of a stand-alone deployer. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mockDeployer } from '../../../../deployers/mock/index.ts';
import { serve } from '../../../../deployers/sdk/serve.ts';

describe('a stand-alone deployer', () => {
  const { stdout, stderr } = process;
  const written = { out: '', err: '' };
  const originals = [stdout.write.bind(stdout), stderr.write.bind(stderr)] as const;
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-serve-'));
    Object.assign(written, { out: '', err: '' });
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
    process.exitCode = undefined;
  });

  /** @returns the exit code */
  async function run(...args: string[]): Promise<unknown> {
    stdout.write = (text: string) => (written.out += text) !== '';
    stderr.write = (text: string) => (written.err += text) !== '';
    try {
      await serve(mockDeployer(), args);
    } finally {
      [stdout.write, stderr.write] = originals;
    }
    const { exitCode } = process;
    process.exitCode = undefined;
    return exitCode;
  }

  for (const option of ['--help', '-h']) {
    it(`shows its help page with ${option}`, async () => {
      expect(await run(option)).to.equal(undefined);
      expect(written.out).to.match(/^mock\.deployer\.landscaper\.gardener\.cloud \S+\n/);
      expect(written.out)
        .to.contain('--lease <namespace/name>')
        .and.contain('landscaper.gardener.cloud/mock');
      expect(written.err).to.equal('');
    });
  }

  const config = (text: string): string => {
    const file = join(folder, 'config.yaml');
    writeFileSync(file, text);
    return file;
  };
  const mistakes: readonly (readonly [string, () => readonly string[], RegExp])[] = [
    ['an unknown option', () => ['--what'], /^error: Unknown option '--what'.*; see --help\n$/s],
    ['an argument', () => ['what'], /^error: Unexpected argument 'what'.*; see --help\n$/s],
    ['a lease without a name', () => ['--lease', 'a'], /^error: --lease a is not namespace\/name\n$/],
    [
      'a lease with too many parts',
      () => ['--lease', 'a/b/c'],
      /^error: --lease a\/b\/c is not namespace\/name\n$/,
    ],
    ['a lease without a namespace', () => ['--lease', '/b'], /^error: --lease \/b is not namespace\/name\n$/],
    [
      'an address without a port',
      () => ['--metrics-address', 'a'],
      /^error: --metrics-address a is not host:port\n$/,
    ],
    [
      'an invalid port',
      () => ['--metrics-address', 'a:x'],
      /^error: --metrics-address a:x is not host:port\n$/,
    ],
    [
      'an invalid log level',
      () => ['--log-level', 'loud'],
      /^error: --log-level loud is not a valid level; use one of /,
    ],
    [
      'a missing configuration file',
      () => ['--config', join(folder, 'no')],
      /^error: cannot read --config .*no \(ENOENT\)\n$/,
    ],
    ['an invalid configuration', () => ['--config', config('kind: Other')], /^error: .*config\.yaml: kind: /],
    [
      'an unknown key of the configuration',
      () => ['--config', config('targetSelecter: []')],
      /config\.yaml: unknown key targetSelecter; did you mean targetSelector\?\n$/,
    ],
    [
      'an unknown key inside of a list',
      () => ['--config', config('targetSelector: [{ labls: [] }]')],
      /config\.yaml: unknown key targetSelector\[0\]\.labls; did you mean targetSelector\[0\]\.labels\?\n$/,
    ],
  ];
  for (const [title, args, message] of mistakes) {
    it(`reports in one line, with exit code 2, ${title}`, async () => {
      expect(await run('--kubeconfig', join(folder, 'none'), ...args())).to.equal(2);
      expect(written.err).to.match(message);
      expect(written.err.trimEnd().split('\n')).to.have.length(1);
    });
  }

  for (const option of ['--kubeconfig', '--landscaper-kubeconfig']) {
    it(`exits with 1 if the file of ${option} is invalid`, async () => {
      expect(await run(option, join(folder, 'none'))).to.equal(1);
      expect(written.err).to.match(/^error: .*none/);
    });
  }
});
