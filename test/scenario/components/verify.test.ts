/** `espalier components verify`, with valid and invalid archives and registries. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { filesOnDisk } from '../../../src/components/files.ts';
import { componentArtifact, ctfArchive, emptyCtf, withComponent } from '../../../src/components/pack.ts';
import { packFolder } from '../../../src/components/component-file.ts';
import { readDescriptor, toV2 } from '../../../src/components/descriptor.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { TestRegistry } from '../../support/registry.ts';
import { keyPair, withSignature } from '../../support/signing.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'espalier-verify-'));
const keys = keyPair();

async function espalier(...args: string[]): Promise<{ readonly code: number; readonly output: string }> {
  const terminal = fakeTerminal({ env: { DOCKER_CONFIG: folder } });
  const code = await runProgram(['components', ...args], terminal);
  return { code, output: terminal.output + terminal.errors };
}
const file = (path: string): string => join(folder, path);
function write(path: string, content: unknown): void {
  mkdirSync(dirname(file(path)), { recursive: true });
  writeFileSync(file(path), typeof content === 'string' ? content : JSON.stringify(content));
}

describe('espalier components verify', () => {
  before(async () => {
    write('shop/component.yaml', {
      name: 'example.org/shop',
      version: '1.0.0+build.1',
      resources: [
        { name: 'text', type: 'plainText', path: 'text.txt', mediaType: 'text/plain' },
        { name: 'image', type: 'ociImage', image: 'example.org/img:1' },
      ],
    });
    write('shop/text.txt', 'hello\n');
    write('key.pem', keys.publicKey);
    write('other.pem', keyPair().publicKey);
    expect(await espalier('pack', file('shop'), '--to', file('shop.ctf'))).to.include({ code: 0 });
    // Signed by the tools of the component model, which know the digest of the image as well.
    const { component, layers } = await packFolder(filesOnDisk(file('shop'), 1e6), 'shop');
    const known = component.resources.map((one) => ({
      ...one,
      digest: one.digest ?? {
        hashAlgorithm: 'SHA-256',
        normalisationAlgorithm: 'ociArtifactDigest/v1',
        value: 'a'.repeat(64),
      },
    }));
    const signed = readDescriptor(withSignature(toV2({ ...component, resources: known }), keys));
    const ctf = withComponent(emptyCtf, { component: signed, layers }, false);
    writeFileSync(file('signed.ctf'), ctfArchive(ctf, 'tar'));
    const damaged = { ...signed, resources: known.map((one) => ({ ...one, digest: known[1]!.digest })) };
    const artifact = withComponent(emptyCtf, { component: damaged, layers }, false);
    expect(componentArtifact({ component: damaged, layers }).blobs.size).to.equal(3);
    writeFileSync(file('damaged.ctf'), ctfArchive(artifact, 'tgz'));
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('checks the contents of an archive, and names those it cannot check', async () => {
    const { code, output } = await espalier('verify', file('shop.ctf'));
    expect(output).to.equal(
      'example.org/shop:1.0.0+build.1: verified, 1 content compared; not fetched: image\n',
    );
    expect(code).to.equal(0);
  });

  it('accepts a signature with its key, and no other key', async () => {
    const args = ['verify', file('signed.ctf'), '--signature', 'release', '--public-key'];
    expect(await espalier(...args, file('key.pem'))).to.include({ code: 0 });
    const wrong = await espalier(...args, file('other.pem'));
    expect(wrong.code).to.equal(1);
    expect(wrong.output).to.contain('NOT VERIFIED').and.contain('does not belong to the given key');
  });

  it('names each content that does not match its digest, and fails', async () => {
    const { code, output } = await espalier('verify', file('damaged.ctf'));
    expect(code).to.equal(1);
    expect(output).to.contain(
      'resource text of component example.org/shop:1.0.0+build.1 has the digest of an artifact',
    );
    expect(output).to.contain('verification failed for 1 of 1 component');
  });

  it('finds a blob that was changed in an archive', async () => {
    const changed = readFileSync(file('shop.ctf'), 'latin1').replace('hello\n', 'hallo\n');
    writeFileSync(file('changed.ctf'), Buffer.from(changed, 'latin1'));
    const { code, output } = await espalier('verify', file('changed.ctf'));
    expect(code).to.equal(1);
    expect(output).to.match(/is damaged: its digest is sha256:[0-9a-f]{64}, expected sha256:[0-9a-f]{64}/);
  });

  it('checks a component in a registry', async () => {
    const registry = await TestRegistry.start();
    try {
      const place = `${registry.address}/stock`;
      expect(await espalier('push', file('signed.ctf'), place, '--plain-http')).to.include({ code: 0 });
      const args = [place, 'example.org/shop:1.0.0+build.1', '--plain-http'];
      const demand = ['--signature', 'release', '--public-key', file('key.pem')];
      expect(await espalier('verify', ...args, ...demand)).to.include({ code: 0 });
    } finally {
      await registry.stop();
    }
  });

  const mistakes: readonly [string, string[], string][] = [
    ['a registry without a component', ['localhost:1/x'], 'name the component to check: NAME:VERSION'],
    ['an invalid component name', [file('shop.ctf'), 'shop'], 'write NAME:VERSION'],
    ['a missing component', [file('shop.ctf'), 'a.b/c:1'], 'there is no component a.b/c:1'],
    ['a key without a signature', [file('shop.ctf'), '--public-key', 'x'], 'with --signature'],
    ['a signature without a key', [file('shop.ctf'), '--signature', 'x'], '--public-key or --ca'],
    ['a missing key file', [file('shop.ctf'), '--signature', 'x', '--ca', 'x'], 'there is no file x'],
  ];
  for (const [title, args, message] of mistakes) {
    it(`reports ${title}`, async () => {
      const { code, output } = await espalier('verify', ...args);
      expect(code).not.to.equal(0);
      expect(output).to.contain(message);
    });
  }
});
