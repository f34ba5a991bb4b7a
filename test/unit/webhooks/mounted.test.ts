/** The webhook server with a certificate in files: it serves and follows them, and writes nothing to the cluster. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAuthority, issueCertificate, type KeyAndCertificate } from '../../../src/lib/certificates.ts';
import { FILES_CHECK_MS } from '../../../src/runtime/certificate-files.ts';
import { CHECK_MS } from '../../../src/runtime/webhooks/checking.ts';
import { refuseWithFolder } from '../../../src/cli/commands/servers/webhooks.ts';
import type { Webhooks } from '../../../src/webhooks/index.ts';
import { FakeClock } from '../../support/clock.ts';
import { freePort } from '../../support/ports.ts';
import { greeting, keptConnection, serveWebhooks } from '../../support/webhooks.ts';
import { FakeCluster } from '../runtime/support/fake-cluster.ts';

const service = { namespace: 'ls-system', name: 'hooks', port: 9443 };
const authority = createAuthority('ca');
const issued = (...hosts: string[]): KeyAndCertificate =>
  issueCertificate(authority, createPrivateKey(authority.key), {
    commonName: 'hooks',
    usage: 'server',
    hosts,
  });

describe('the webhook server with a certificate in files', () => {
  const names = ['hooks.ls-system.svc', '127.0.0.1'];
  const [one, two, wrong] = [issued(...names), issued(...names), issued('hooks')];
  let folder: string;
  let cluster: FakeCluster;
  let clock: FakeClock;
  let port: number;
  let running: Webhooks | undefined;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-webhooks-'));
    [cluster, clock, port, running] = [new FakeCluster(), new FakeClock(), await freePort(), undefined];
  });
  afterEach(async () => {
    await running?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const write = ({ certificate, key }: KeyAndCertificate): void => {
    writeFileSync(join(folder, 'tls.crt'), certificate);
    writeFileSync(join(folder, 'tls.key'), key);
  };
  const serve = async (): Promise<void> => {
    const options = { client: cluster, namespace: 'ls-system', clock, endpoint: { service } };
    running = await serveWebhooks({ ...options, port, certificateFolder: folder });
  };
  const shown = async (): Promise<string> => (await greeting(port)).fingerprint256;
  const print = ({ certificate }: KeyAndCertificate): string =>
    new X509Certificate(certificate).fingerprint256;

  it('serves the files, and their successors without closing connections', async () => {
    write(one);
    await serve();
    expect(await shown()).to.equal(print(one));
    const connection = keptConnection(port, authority.certificate);
    await connection.ask();
    write(two);
    await clock.advance(FILES_CHECK_MS);
    expect(await shown()).to.equal(print(two));
    expect(await connection.ask()).to.deep.equal({ code: 200, isClosing: false });
    connection.close();
  });

  it('sends no request to the API server, so it needs no rights', async () => {
    write(one);
    await serve();
    await clock.advance(2 * CHECK_MS);
    await running?.close();
    running = undefined;
    expect(cluster.requests).to.deep.equal([]);
  });

  it('does not start without usable files, or with those of a server of another name', async () => {
    const failure = async (): Promise<string> =>
      serve().then(
        () => '',
        (error: unknown) => (error as Error).message,
      );
    expect(await failure()).to.contain(`cannot read the certificate ${join(folder, 'tls.crt')}`);
    write(wrong);
    expect(await failure()).to.contain('is not valid for hooks.ls-system.svc, only for DNS:hooks;');
    write(one);
    expect(await failure()).to.equal('');
  });

  it('keeps its certificate while new files belong to a server of another name', async () => {
    write(one);
    await serve();
    write(wrong);
    await clock.advance(FILES_CHECK_MS);
    expect(await shown()).to.equal(print(one));
  });
});

describe('the option --cert-dir', () => {
  it('excludes options for what the server then does not write', () => {
    refuseWithFolder({ certDir: '/tls' });
    refuseWithFolder({ certNs: 'a', ownerRole: 'b' });
    expect(() => {
      refuseWithFolder({ certDir: '/tls', certNs: 'a', ownerRole: 'b' });
    }).to.throw('--cert-ns, --owner-role: not with --cert-dir');
    expect(() => {
      refuseWithFolder({ certDir: '/tls', ownerRole: 'b' });
    }).to.throw('remove the option, or --cert-dir');
  });
});
