/** Registries with and without TLS: whose certificates are trusted, and when plain HTTP is used. */
import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createRawServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { download } from '../../../deployers/helm/download.ts';
import { buildArtifact } from '../../../src/components/artifact.ts';
import {
  createComponentRepositories,
  type ComponentRepositories,
} from '../../../src/components/component-repositories.ts';
import { Credentials, dockerCredentials, ocmCredentials } from '../../../src/components/credentials.ts';
import {
  RegistryMisconfigured,
  RegistryUnavailable,
  RepositoryUnusable,
} from '../../../src/components/errors.ts';
import { createAuthority, issueCertificate } from '../../../src/lib/certificates.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { FakeClock } from '../../support/clock.ts';
import { TestRegistry, type TestRegistryOptions } from '../../support/registry.ts';
import { startUnusableServers, type UnusableServers } from '../../support/unusable-servers.ts';
import { systemClock } from '../../../src/lib/clock.ts';

const LOGIN = { username: 'robot', password: 's3cret' };
const artifact = buildArtifact({ mediaType: 'a/config', content: Buffer.from('{}') }, []);
const authority = createAuthority('of-the-registry');
const other = createAuthority('of-nothing');

function certificate(hosts: readonly string[] = ['127.0.0.1'], until = systemClock.wall() + 3_600_000) {
  const { certificate: cert, key } = issueCertificate(authority, createPrivateKey(authority.key), {
    commonName: 'registry',
    usage: 'server',
    hosts,
    validity: { from: systemClock.wall() - 7_200_000, until },
  });
  return { cert, key };
}

describe('a registry', () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-tls-'));
  const started: { stop(): Promise<void> }[] = [];
  let repositories: ComponentRepositories | undefined;
  let clock: FakeClock;
  let reports: string[];
  beforeEach(() => {
    reports = [];
    clock = new FakeClock();
  });
  afterEach(async () => {
    await repositories?.close();
    await Promise.all(started.splice(0).map((server) => server.stop()));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  const open = (options: object = {}): ComponentRepositories =>
    (repositories = createComponentRepositories({
      clock,
      rng: seededRng(1),
      report: (_, problem) => void reports.push(problem),
      ...options,
    }));
  const serve = async (options: TestRegistryOptions): Promise<TestRegistry> => {
    const registry = await TestRegistry.start(options);
    started.push(registry);
    registry.manifests.set('team/app:1', { mediaType: 'x', bytes: Buffer.from(artifact.manifest) });
    return registry;
  };
  const secure = (options: TestRegistryOptions = {}) => serve({ tls: certificate(), ...options });
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const read = async (address: string, credentials: Credentials = Credentials.none) =>
    (await repositories!.registry(address, credentials).artifact('team/app', '1'))?.digest;
  const failure = async (address: string, credentials?: Credentials): Promise<Error> => {
    try {
      await read(address, credentials);
    } catch (error) {
      return error as Error;
    }
    throw new Error('the artifact was read');
  };

  describe('with TLS', () => {
    it('is trusted if the authority stands beside its credentials, also for its token server', async () => {
      const { address } = await secure({ login: LOGIN });
      open();
      const auths = { [address]: { ...LOGIN, certificateAuthority: authority.certificate } };
      const docker = dockerCredentials(JSON.stringify({ auths }), 'here');
      expect(await read(address, docker)).to.equal(artifact.digest);
      const [hostname = '', port] = address.split(':');
      const properties = { ...LOGIN, certificateAuthority: authority.certificate };
      const consumers = [
        { identity: { type: 'OCIRegistry', hostname, port }, credentials: [{ properties }] },
      ];
      expect(await read(address, ocmCredentials(JSON.stringify({ consumers }), 'here'))).to.equal(
        artifact.digest,
      );
    });

    it('is trusted by one Context without being trusted by others', async () => {
      const { address } = await secure();
      open();
      const auths = { [address]: { certificateAuthority: authority.certificate } };
      expect(await read(address, dockerCredentials(JSON.stringify({ auths }), 'here'))).to.equal(
        artifact.digest,
      );
      expect(await failure(address)).to.be.instanceOf(RegistryMisconfigured);
    });

    it('is trusted if a file of the configuration has its authority, which is read again when it changes', async () => {
      const { address } = await secure();
      const path = file('ca.pem', other.certificate);
      open({ caFiles: [{ path, key: 'registry.caFiles[0]' }] });
      expect(await failure(address)).to.be.instanceOf(RegistryMisconfigured);
      file('ca.pem', `${other.certificate}\n${authority.certificate}`);
      expect(await read(address)).to.equal(artifact.digest);
      expect(reports).to.deep.equal([]);
    });

    it('gets the login of the operator only if the operator trusts it', async () => {
      const { address, seen } = await secure({ login: LOGIN });
      const path = file('config.json', JSON.stringify({ auths: { [address]: LOGIN } }));
      open({ configFiles: [{ path, key: 'registry.oci.configFiles[0]' }] });
      const auths = { [address]: { certificateAuthority: authority.certificate } };
      const tenant = dockerCredentials(JSON.stringify({ auths }), 'here');
      expect(await failure(address, tenant)).to.be.instanceOf(RegistryMisconfigured);
      expect(seen).to.have.length(0);
    });

    it('is trusted by a caFile of the operator, not by one of a tenant', async () => {
      const { address } = await secure({ login: LOGIN });
      file('beside.pem', authority.certificate);
      const text = JSON.stringify({ auths: { [address]: { ...LOGIN, caFile: 'beside.pem' } } });
      const path = file('config.json', text);
      open({ configFiles: [{ path, key: 'registry.oci.configFiles[0]' }] });
      expect(await read(address)).to.equal(artifact.digest);
      const error = await failure(address, dockerCredentials(text, 'secret a/b'));
      expect(error).to.be.instanceOf(RepositoryUnusable);
      expect(error.message).to.equal(
        `caFile in auths["${address}"] of secret a/b cannot be used: only the files of registry.oci.configFiles may name files; put the certificates in PEM into certificateAuthority`,
      );
    });

    it('fails alone if its authority is not a certificate', async () => {
      const plain = await serve({});
      const { address } = await secure();
      open({ allowPlainHttp: true });
      const auths = { [address]: { certificateAuthority: 'hunter2' } };
      const credentials = dockerCredentials(JSON.stringify({ auths }), 'secret a/b');
      expect(await read(plain.address, credentials)).to.equal(artifact.digest);
      const { message } = await failure(address, credentials);
      expect(message).to.equal(
        `certificateAuthority in auths["${address}"] of secret a/b has no certificate in PEM format`,
      );
    });

    it('names files of authorities that cannot be used, at the start and when a certificate is not trusted', async () => {
      const { address } = await secure();
      const path = file('wrong.pem', '-----BEGIN CERTIFICATE-----\nhunter2\n-----END CERTIFICATE-----');
      open({ caFiles: [{ path, key: 'registry.caFiles[0]' }] });
      const problem = `registry.caFiles[0], file ${path}, has an invalid certificate: number 1`;
      expect(reports).to.deep.equal([problem]);
      expect((await failure(address)).message).to.contain(problem);
    });

    const faults = [
      [
        'an unknown authority',
        () => certificate(),
        [],
        'its certificate is from an unknown authority; to trust it, add its certificate authority to registry.caFiles in the configuration, or as certificateAuthority',
      ],
      [
        'a self-signed certificate',
        () => ({ cert: authority.certificate, key: authority.key }),
        [],
        'its certificate is self-signed and not trusted; to trust it, add its certificate authority to registry.caFiles',
      ],
      [
        'an expired certificate',
        () => certificate(['127.0.0.1'], systemClock.wall() - 3_600_000),
        [authority],
        'its certificate has expired; have it renewed',
      ],
      [
        'a certificate for another name',
        () => certificate(['elsewhere.example']),
        [authority],
        'its certificate is for other host names',
      ],
    ] as const;
    for (const [what, tls, trusted, advice] of faults) {
      it(`says that it has ${what}, and does not retry, nor use plain HTTP`, async () => {
        const { address } = await serve({ tls: tls() });
        const caFiles = trusted.map((one) => ({ path: file('trusted.pem', one.certificate), key: 'k' }));
        open({ caFiles, allowPlainHttp: true });
        const error = await failure(address); // the clock stands still, so a retry would never end
        expect(error).to.be.instanceOf(RegistryMisconfigured).and.include({ isPassing: false });
        expect(error.message).to.contain(advice).and.contain(address).and.not.contain('plain HTTP');
      });
    }
  });

  describe('that may use plain HTTP', () => {
    it('is used with TLS if it speaks TLS', async () => {
      const { address } = await secure();
      open({ allowPlainHttp: true, caFiles: [{ path: file('ok.pem', authority.certificate), key: 'k' }] });
      expect(await read(address)).to.equal(artifact.digest);
    });

    it('is used without TLS if it does not speak TLS; for five minutes, TLS is not tried again', async () => {
      const registry = await serve({ login: LOGIN });
      let hellos = 0;
      const front = createRawServer((socket) => {
        socket.once('data', (data) => {
          if (data[0] === 0x16) hellos++;
          socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
        });
        socket.on('error', () => undefined);
      });
      await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
      started.push({ stop: () => new Promise((resolve) => front.close(() => resolve())) });
      open({ allowPlainHttp: true });
      const auths = { [registry.address]: LOGIN };
      expect(await read(registry.address, dockerCredentials(JSON.stringify({ auths }), 'x'))).to.equal(
        artifact.digest,
      );
      const address = `127.0.0.1:${String((front.address() as AddressInfo).port)}`;
      for (const expected of [1, 1, 2]) {
        if (expected === 2) await clock.advance(5 * 60_000 + 1);
        expect(await read(address)).to.equal(undefined);
        expect(hellos).to.equal(expected);
      }
    });

    it('accepts pushes to absolute upload locations, with credentials', async () => {
      const registry = await serve({ login: LOGIN, auth: 'basic' });
      registry.fault = (request, response) => {
        if (request.method !== 'POST' || request.headers.authorization === undefined) return false;
        const location = `http://${registry.address}/v2/team/new/blobs/uploads/1`;
        response.writeHead(202, { location }).end();
        return true;
      };
      open({ allowPlainHttp: true });
      const auths = { [registry.address]: LOGIN };
      const credentials = dockerCredentials(JSON.stringify({ auths }), 'x');
      await repositories!.registry(registry.address, credentials).push('team/new', '1', artifact);
      expect(registry.manifests.has('team/new:1')).to.equal(true);
    });

    describe('and cannot be used', () => {
      let servers: UnusableServers;
      before(async () => {
        servers = await startUnusableServers();
      });
      after(() => servers.stop());

      it('stays with TLS if a server to which it redirects does not speak it', async () => {
        const registry = await secure({ login: LOGIN, auth: 'basic' });
        registry.fault = (request, response) => {
          if (request.headers.authorization === undefined) return false;
          response.writeHead(307, { location: `https://${servers.plain}/elsewhere` }).end();
          return true;
        };
        open({ allowPlainHttp: true });
        const auths = { [registry.address]: { ...LOGIN, certificateAuthority: authority.certificate } };
        const before = servers.requests();
        const error = await failure(registry.address, dockerCredentials(JSON.stringify({ auths }), 'x'));
        expect(error.message).to.contain(servers.plain).and.not.contain('this was plain HTTP');
        expect(servers.requests()).to.equal(before);
      });

      it('names both failures', async () => {
        open({ allowPlainHttp: true });
        const error = await failure(servers.garbage);
        expect(error).to.be.instanceOf(RegistryMisconfigured);
        expect(error.message)
          .to.contain('(HTTPParserError)')
          .and.contain(
            'this was plain HTTP, because the connection with TLS had failed (ERR_SSL_WRONG_VERSION_NUMBER)',
          );
      });

      it('stays with TLS if the address says https://, or the connection was refused', async () => {
        open({ allowPlainHttp: true });
        const before = servers.requests();
        expect((await failure(`https://${servers.plain}`)).message).to.contain('check scheme');
        expect(await failure(servers.closed)).to.be.instanceOf(RegistryUnavailable);
        expect((await failure(servers.closed)).message).not.to.contain('plain HTTP');
        expect(servers.requests()).to.equal(before);
      });
    });
  });

  it('without TLS is named with the key that allows it', async () => {
    const { address, seen } = await serve({});
    open();
    expect((await failure(address)).message).to.contain(
      'if it speaks plain HTTP, allow that: registry.oci.allowPlainHttp in the configuration, --plain-http',
    );
    expect(seen).to.have.length(0);
  });

  it('is trusted like a chart repository', async () => {
    const { address } = await secure();
    const url = `https://${address}/token`;
    const request = { url, clock, signal: new AbortController().signal, namespace: undefined };
    const { trust } = open({ caFiles: [{ path: file('chart.pem', authority.certificate), key: 'k' }] });
    expect((await download('chart', { ...request, trust })).length).to.be.greaterThan(0);
    expect((await download('chart', { ...request, ca: authority.certificate })).length).to.be.greaterThan(0);
    const error = await download('chart', request).catch((each: unknown) => each);
    expect(error).to.have.property('message').that.contains('registry.caFiles');
  });
});
