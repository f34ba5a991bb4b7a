/** Credentials from Docker's configuration files that the operator names in the configuration. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildArtifact } from '../../../src/components/artifact.ts';
import {
  createComponentRepositories,
  type ComponentRepositories,
} from '../../../src/components/component-repositories.ts';
import { CredentialFiles } from '../../../src/components/credential-files.ts';
import { Credentials, dockerCredentials } from '../../../src/components/credentials.ts';
import { RegistryRefused } from '../../../src/components/errors.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { FakeClock } from '../../support/clock.ts';
import { TestRegistry } from '../../support/registry.ts';

const LOGIN = { username: 'robot', password: 's3cret' };
const artifact = buildArtifact({ mediaType: 'a/config', content: Buffer.from('{}') }, []);

describe('registry.oci.configFiles', () => {
  let folder: string;
  let repositories: ComponentRepositories | undefined;
  const registries: TestRegistry[] = [];
  let reports: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-config-files-'));
    reports = [];
  });
  afterEach(async () => {
    await repositories?.close();
    await Promise.all(registries.splice(0).map((registry) => registry.stop()));
    rmSync(folder, { recursive: true });
  });

  const at = (name: string): string => join(folder, name);
  const text = (auths: object): string => JSON.stringify({ auths });
  const listed = (...names: string[]) =>
    names.map((name, i) => ({ path: at(name), key: `registry.oci.configFiles[${i}]` }));
  const report = (_: unknown, problem: string): void => void reports.push(problem);
  const filesOf = (...names: string[]) => new CredentialFiles(listed(...names), report);
  const registry = async (): Promise<TestRegistry> => {
    const started = await TestRegistry.start({ login: LOGIN });
    registries.push(started);
    started.manifests.set('team/app:1', { mediaType: 'x', bytes: Buffer.from(artifact.manifest) });
    return started;
  };
  const open = (...names: string[]): ComponentRepositories =>
    (repositories = createComponentRepositories({
      clock: new FakeClock(),
      rng: seededRng(1),
      allowPlainHttp: true,
      configFiles: listed(...names),
      report,
    }));
  const failure = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('are used for registries that the Context has no credentials for', async () => {
    const { address } = await registry();
    writeFileSync(at('a.json'), text({ [address]: LOGIN }));
    const other = dockerCredentials(text({ 'other.example.org': LOGIN }), 'here');
    expect(await open('a.json').registry(address, other).artifact('team/app', '1')).to.have.property(
      'digest',
    );
  });

  it("have less weight than the Context's own pull secrets, also with a longer path", async () => {
    const { address } = await registry();
    const wrong = { username: 'robot', password: 'wr0ng' };
    writeFileSync(at('a.json'), text({ [`${address}/team`]: wrong }));
    const own = dockerCredentials(text({ [address]: LOGIN }), 'here');
    expect(await open('a.json').registry(address, own).artifact('team/app', '1')).to.have.property('digest');
    const error = await failure(repositories!.registry(address, Credentials.none).artifact('team/app', '1'));
    expect(error).to.be.instanceOf(RegistryRefused);
  });

  it('are read again when they change, as mounted secrets do: by replacing a link', async () => {
    const { address } = await registry();
    const mounted = (version: string, password: string): void => {
      mkdirSync(at(version));
      writeFileSync(join(at(version), 'a.json'), text({ [address]: { ...LOGIN, password } }));
      symlinkSync(version, at('new'));
      renameSync(at('new'), at('data'));
    };
    mounted('v1', 'wr0ng!');
    symlinkSync(join('data', 'a.json'), at('a.json'));
    const client = open('a.json').registry(address, Credentials.none);
    expect(await failure(client.artifact('team/app', '1'))).to.be.instanceOf(RegistryRefused);
    mounted('v2', LOGIN.password);
    expect(await client.artifact('team/app', '1')).to.have.property('digest');
  });

  it('do not affect each other: problems are reported once, with key and file, and when a registry refuses', async () => {
    const { address } = await registry();
    const denied = await registry();
    writeFileSync(at('good.json'), text({ [address]: LOGIN }));
    writeFileSync(at('broken.json'), '{"auths": hunter2');
    const names = ['missing.json', 'broken.json', 'good.json'];
    expect(
      await open(...names)
        .registry(address, Credentials.none)
        .artifact('team/app', '1'),
    ).to.have.property('digest');
    const missing = `registry.oci.configFiles[0], file ${at('missing.json')}, cannot be read (ENOENT)`;
    const broken = `registry.oci.configFiles[1], file ${at('broken.json')}, cannot be read: its content does not have the format of its key`;
    expect(reports).to.deep.equal([missing, broken]);
    const error = await failure(
      repositories!.registry(denied.address, Credentials.none).artifact('team/app', '1'),
    );
    expect(error).to.be.instanceOf(RegistryRefused);
    expect((error as Error).message)
      .to.contain(
        'there are no credentials for it; add a pull secret to the Context, or a file to registry.oci.configFiles',
      )
      .and.contain(missing)
      .and.contain(broken)
      .and.not.contain('hunter2');
  });

  it('work as soon as a missing file exists', () => {
    const files = filesOf('a.json');
    expect(files.current().for('example.org', 'x')).to.equal(undefined);
    writeFileSync(at('a.json'), text({ 'example.org': LOGIN }));
    expect(files.current().for('example.org', 'x')).to.deep.equal(LOGIN);
    expect(files.current()).to.equal(files.current());
    expect(files.current().problems).to.deep.equal([]);
  });

  const useless: readonly (readonly [string, object, string])[] = [
    [
      'an entry without a login',
      { auths: { 'a.example.org': { auth: 'aHVudGVyMg==' } } },
      'neither user name nor token for "a.example.org"',
    ],
    [
      'a credential helper',
      { credHelpers: { 'a.example.org': 'ecr-login' } },
      'credential helper for "a.example.org", which Espalier does not call',
    ],
    ['a store of credentials', { auths: {}, credsStore: 'desktop' }, 'credential helper for all registries'],
    ['auths of another type', { auths: ['hunter2'] }, 'has no object "auths"'],
  ];
  for (const [what, content, problem] of useless) {
    it(`report ${what}`, () => {
      writeFileSync(at('a.json'), JSON.stringify(content));
      filesOf('a.json').current();
      expect(reports).to.have.length(1);
      expect(reports[0]).to.contain(problem).and.contain(at('a.json')).and.not.contain('hunter2');
    });
  }

  it('are limited in size', () => {
    writeFileSync(at('a.json'), Buffer.alloc(2 ** 20 + 1, ' '));
    filesOf('a.json').current();
    expect(reports).to.deep.equal([
      `registry.oci.configFiles[0], file ${at('a.json')}, has more than 1048576 bytes`,
    ]);
  });
});
