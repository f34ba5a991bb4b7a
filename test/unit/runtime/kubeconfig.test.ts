import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createPrivateKey } from 'node:crypto';
import { createServer as createPlainServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import { connect as connectSocket, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { createAuthority, issueCertificate } from '../../../src/lib/certificates.ts';
import { toYaml } from '../../../src/lib/yaml.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { KubeconfigError, Unauthorized } from '../../../src/runtime/errors.ts';
import { connect, type Connection, type KubeconfigSource } from '../../../src/runtime/transport/http.ts';
import { loadAccess } from '../../../src/runtime/transport/kubeconfig.ts';
import { FakeClock } from '../../support/clock.ts';

const none = (): Promise<never> => Promise.reject(new Error('not to be called'));

const config = (cluster: object, user: object, more: object = {}): string =>
  toYaml({
    clusters: [{ name: 'c', cluster: { server: 'https://example.test', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
    ...more,
  });

const complaint = async (source: KubeconfigSource): Promise<string> => {
  try {
    const access = await loadAccess(source, none, {});
    await access.credentials(false);
  } catch (error) {
    expect(error).to.be.instanceOf(KubeconfigError);
    return (error as Error).message;
  }
  throw new Error('should have failed');
};

describe('a kubeconfig', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };

  it('has server, namespace and headers', async () => {
    const text = config(
      { server: 'https://h:6443/prefix/' },
      { token: 't', as: 'me', 'as-groups': ['g1', 'g2'], 'as-user-extra': { 'example.org/x': ['1'] } },
      { contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'n' } }] },
    );
    const access = await loadAccess({ text }, none);
    expect(access).to.include({ server: 'https://h:6443/prefix', namespace: 'n' });
    expect((await access.credentials(false)).headers).to.deep.equal({
      authorization: 'Bearer t',
      'impersonate-user': 'me',
      'impersonate-group': ['g1', 'g2'],
      'impersonate-extra-example.org%2Fx': ['1'],
    });
  });

  it('uses a password as basic authentication, even one that looks like a number', async () => {
    const text = config({}, { username: 'me', password: 123 });
    const { headers } = await (await loadAccess({ text }, none)).credentials(false);
    expect(headers['authorization']).to.equal(`Basic ${Buffer.from('me:123').toString('base64')}`);
  });

  it('finds files relative to itself and reads them again each time', async () => {
    await file('token', 'one\n');
    const path = await file('config', config({}, { tokenFile: 'token' }));
    const access = await loadAccess({ file: path }, none);
    expect((await access.credentials(false)).headers).to.deep.equal({ authorization: 'Bearer one' });
    await file('token', 'two');
    expect((await access.credentials(false)).headers).to.deep.equal({ authorization: 'Bearer two' });
  });

  it('may be split over several files; the first definition takes precedence', async () => {
    const a = await file('a', config({ server: 'https://first' }, { token: 'a' }));
    const b = await file(
      'b',
      config({ server: 'https://second' }, { token: 'b' }).replace(
        'current-context: x',
        'current-context: y',
      ),
    );
    const access = await loadAccess({ file: [a, join(folder, 'missing'), b].join(delimiter) }, none);
    expect(access.server).to.equal('https://first');
  });

  it('calls plugins only for credentials that it cannot read itself', async () => {
    const calls: unknown[] = [];
    const path = await file('config', config({}, { exec: { command: 'get-token' } }));
    const access = await loadAccess({ file: path }, ({ kubeconfig, context, user, refused }) => {
      calls.push([JSON.parse(kubeconfig), context, refused, user]);
      return Promise.resolve({ headers: { authorization: 'Bearer plugin' }, tls: {} });
    });
    expect((await access.credentials(true)).headers).to.deep.equal({ authorization: 'Bearer plugin' });
    expect(calls).to.have.length(1);
    expect(calls[0]).to.have.deep.nested.property('[0].users[0].user', { exec: { command: 'get-token' } });
    expect(calls[0]).to.have.deep.nested.property('[3]', { exec: { command: 'get-token' } });
  });

  const bad: [string, (folder: string) => Promise<KubeconfigSource> | KubeconfigSource, RegExp][] = [
    [
      'is missing',
      (f) => ({ file: join(f, 'nope') }),
      /^cannot read kubeconfig \S*nope: no such file; set KUBECONFIG/,
    ],
    ['is not YAML', () => ({ text: 'a: [b' }), /^the kubeconfig is not valid YAML/],
    ['is another document', () => ({ text: 'kind: Pod' }), /contains no cluster; is it a kubeconfig\?$/],
    [
      'has no current context',
      () => ({ text: config({}, {}, { 'current-context': '' }) }),
      /no current-context; choose one with --context \(it has x\)$/,
    ],
    ['has a missing context', () => ({ text: config({}, {}), context: 'y' }), /no context y; it has x$/],
    [
      'has a missing cluster',
      () => ({ text: config({}, {}, { contexts: [{ name: 'x', context: { cluster: 'z', user: 'u' } }] }) }),
      /context x refers to a cluster that is not in it$/,
    ],
    [
      'has a missing user',
      () => ({ text: config({}, {}, { contexts: [{ name: 'x', context: { cluster: 'c', user: 'z' } }] }) }),
      /context x refers to a user that is not in it$/,
    ],
    [
      'has no valid address',
      () => ({ text: config({ server: 'local host' }, {}) }),
      /not an http or https address, nor a host with a port$/,
    ],
    ['is requested from a pod outside of one', () => 'in-cluster', /^not running inside a cluster/],
    [
      'refers to a missing file',
      async (f) => {
        await writeFile(join(f, 'config'), config({}, { 'client-key': 'gone.pem' }));
        return { file: join(f, 'config') };
      },
      /^cannot read the client-key \S*gone\.pem: no such file; check the path/,
    ],
    [
      'comes from a tenant and refers to files',
      () => ({ text: config({}, { tokenFile: '/etc/passwd' }) }),
      /tokenFile/,
    ],
    [
      'comes from a tenant and runs commands',
      () => ({ text: config({}, { exec: { command: 'sh' } }) }),
      /uses exec,/,
    ],
    [
      'comes from a tenant and refers to files behind an empty field of the cluster',
      () => ({ text: config({ tokenFile: '' }, { tokenFile: '/etc/passwd' }) }),
      /uses tokenFile,/,
    ],
    [
      'comes from a tenant and runs commands behind a false field of the cluster',
      () => ({ text: config({ exec: false, 'auth-provider': 0 }, { exec: { command: 'sh' } }) }),
      /uses exec, auth-provider,/,
    ],
    [
      'comes from a tenant and reads a CA from disk',
      () => ({ text: config({ 'certificate-authority': '/etc/x' }, {}) }),
      /uses certificate-authority,/,
    ],
  ];
  for (const [title, source, message] of bad) {
    it(`that ${title} is rejected in one clear line`, async () => {
      const text = await complaint(await source(folder));
      expect(text).to.match(message);
      expect(text).not.to.contain('\n');
    });
  }

  it('from a tenant runs nothing for empty fields', async () => {
    const empty = { exec: '', 'auth-provider': null, tokenFile: '' };
    const text = config({}, { ...empty, token: 't' });
    const { headers } = await (await loadAccess({ text }, none)).credentials(false);
    expect(headers).to.deep.equal({ authorization: 'Bearer t' });
  });

  it('is never quoted if it cannot be parsed', async () => {
    expect(await complaint({ text: 'token: "very-secret\nfoo: [' })).not.to.contain('very-secret');
  });
});

describe('a connection', () => {
  const authority = createAuthority('test-ca');
  const signer = createPrivateKey(authority.key);
  const issue = (commonName: string, usage: 'server' | 'client') =>
    issueCertificate(authority, signer, {
      commonName,
      usage,
      hosts: usage === 'server' ? ['127.0.0.1'] : [],
    });
  const b64 = (text: string): string => Buffer.from(text).toString('base64');
  let server: Server;
  let url: string;
  let connection: Connection | undefined;
  let clock: FakeClock;
  let folder: string;
  /** The client's user as the server sees it, and how it is determined. */
  let seen: { user: string | undefined; authorization: string | undefined }[];
  let accepts: (authorization: string | undefined) => boolean;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'connection-'));
    clock = new FakeClock();
    seen = [];
    accepts = () => true;
    const { key, certificate } = issue('server', 'server');
    const options = {
      key,
      cert: certificate,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    };
    server = createServer(options, (request, response) => {
      const peer = (request.socket as TLSSocket).getPeerCertificate();
      const { authorization } = request.headers;
      seen.push({ user: peer.subject?.CN as string | undefined, authorization });
      const ok = accepts(authorization);
      response.writeHead(ok ? 200 : 401, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(ok ? {} : { kind: 'Status', reason: 'Unauthorized', message: 'who are you' }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `https://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });

  afterEach(async () => {
    await connection?.close();
    connection = undefined;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  });

  const version = async (kubeconfig: KubeconfigSource): Promise<unknown> => {
    connection ??= await connect({ kubeconfig, userAgent: 'test', clock, log: silentLogger });
    return createClient(connection).raw('GET', '/version');
  };
  const trusted = (user: object, cluster: object = {}): string =>
    config({ server: url, 'certificate-authority-data': b64(authority.certificate), ...cluster }, user);

  it('trusts the authority of its kubeconfig and sends its certificate', async () => {
    const { key, certificate } = issue('anna', 'client');
    const text = trusted({ 'client-certificate-data': b64(certificate), 'client-key-data': b64(key) });
    await version({ text });
    expect(seen).to.deep.equal([{ user: 'anna', authorization: undefined }]);
  });

  it('reports that it cannot trust a server', async () => {
    const error = await version({ text: config({ server: url }, {}) }).catch((e: unknown) => e as Error);
    expect((error as Error).message).to.match(
      /^cannot trust https:\S+ \(\w+\): its certificate is (self-signed and not trusted|from an unknown authority); to trust it, put its certificate authority into the kubeconfig, while trying to get \/version$/,
    );
  });

  it('skips verification only on request', async () => {
    await version({ text: config({ server: url, 'insecure-skip-tls-verify': true }, { token: 't' }) });
    expect(seen).to.deep.equal([{ user: undefined, authorization: 'Bearer t' }]);
  });

  it('uses the proxy of its kubeconfig', async () => {
    let tunnels = 0;
    const proxy = createPlainServer();
    proxy.on('connect', (request, socket) => {
      tunnels++;
      const [host = '', port] = (request.url ?? '').split(':');
      const upstream = connectSocket(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      for (const end of [upstream, socket]) end.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`;
    await version({ text: trusted({ token: 't' }, { 'proxy-url': address }) });
    await connection?.close();
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
    expect(tunnels).to.equal(1);
    expect(seen).to.have.length(1);
  });

  it('refuses a proxy that is not one', async () => {
    for (const proxy of ['file:///etc/passwd', 'not a URL', 'proxy:1']) {
      const text = trusted({ token: 't' }, { 'proxy-url': proxy });
      const error: unknown = await version({ text }).catch((thrown: unknown) => thrown);
      expect(error, proxy).to.be.instanceOf(KubeconfigError);
    }
  });

  it('RUN-P13: reads a token file at most once a minute', async () => {
    await writeFile(join(folder, 'token'), 'one');
    await writeFile(join(folder, 'config'), trusted({ tokenFile: 'token' }));
    const kubeconfig = { file: join(folder, 'config') };
    await version(kubeconfig);
    await writeFile(join(folder, 'token'), 'two');
    await version(kubeconfig);
    await clock.advance(61_000);
    await version(kubeconfig);
    expect(seen.map((s) => s.authorization)).to.deep.equal(['Bearer one', 'Bearer one', 'Bearer two']);
  });

  it('RUN-P13: reads a token again after a 401, for all requests that got it', async () => {
    await writeFile(join(folder, 'token'), 'one');
    await writeFile(join(folder, 'config'), trusted({ tokenFile: 'token' }));
    const kubeconfig = { file: join(folder, 'config') };
    await version(kubeconfig);
    await clock.advance(10_000);
    await writeFile(join(folder, 'token'), 'two');
    accepts = (authorization) => authorization === 'Bearer two';
    await Promise.all([version(kubeconfig), version(kubeconfig), version(kubeconfig)]);
    expect(seen.at(-1)?.authorization).to.equal('Bearer two');
  });

  it('reports a 401 if there is nothing else to try', async () => {
    accepts = () => false;
    const error = await version({ text: trusted({ token: 't' }) }).catch((e: unknown) => e as Error);
    expect(error).to.be.instanceOf(Unauthorized);
    expect(seen).to.have.length(1);
  });

  it('keeps using the old token while the file is being replaced', async () => {
    await writeFile(join(folder, 'token'), 'one');
    await writeFile(join(folder, 'config'), trusted({ tokenFile: 'token' }));
    const kubeconfig = { file: join(folder, 'config') };
    await version(kubeconfig);
    await rm(join(folder, 'token'));
    await clock.advance(61_000);
    await version(kubeconfig);
    expect(seen.at(-1)?.authorization).to.equal('Bearer one');
  });

  it('opens new sockets after its certificate has been renewed', async () => {
    const renew = async (name: string): Promise<void> => {
      const { key, certificate } = issue(name, 'client');
      await writeFile(join(folder, 'cert.pem'), certificate);
      await writeFile(join(folder, 'key.pem'), key);
    };
    await renew('before');
    await writeFile(
      join(folder, 'config'),
      trusted({ 'client-certificate': 'cert.pem', 'client-key': 'key.pem' }),
    );
    const kubeconfig = { file: join(folder, 'config') };
    await version(kubeconfig);
    await renew('after');
    await clock.advance(61_000);
    await version(kubeconfig);
    expect(seen.map((s) => s.user)).to.deep.equal(['before', 'after']);
  });

  it('gets a token from a command through client-node', async function () {
    this.timeout(30_000);
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'x1' },
    };
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', `console.log(${JSON.stringify(JSON.stringify(credential))})`],
      interactiveMode: 'Never',
    };
    await writeFile(join(folder, 'config'), trusted({ exec }));
    await version({ file: join(folder, 'config') });
    expect(seen).to.deep.equal([{ user: undefined, authorization: 'Bearer x1' }]);
  });

  it('runs a command with a slash from the folder of the kubeconfig, and others from PATH', async () => {
    for (const [given, command] of [
      ['./get-token', join(folder, 'get-token')],
      ['bin/get-token', join(folder, 'bin/get-token')],
      ['/opt/get-token', '/opt/get-token'],
      ['get-token', 'get-token'],
    ] as const) {
      await writeFile(join(folder, 'config'), trusted({ exec: { command: given, args: ['x'] } }));
      const users: unknown[] = [];
      const access = await loadAccess({ file: join(folder, 'config') }, ({ user }) => {
        users.push(user);
        return Promise.resolve({ headers: {}, tls: {} });
      });
      await access.credentials(false);
      expect(users).to.deep.equal([{ exec: { command, args: ['x'] } }]);
    }
  });
});
