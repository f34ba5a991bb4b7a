import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { findBinaries } from '../../hack/envtest/binaries.ts';
import { startEnvtest, type Envtest } from '../support/envtest.ts';
import { wireClient, type WireClient } from '../support/wire-client.ts';
import { leftOut } from '../support/skip.ts';

describe('the real control plane', function () {
  if (findBinaries() === undefined) {
    leftOut('serves', 'there is no kube-apiserver here: make test-envtest builds one');
    return;
  }
  this.timeout(90_000);
  const folder = mkdtempSync(join(tmpdir(), 'espalier-envtest-test-'));
  const auditLog = join(folder, 'audit.log');
  let server: Envtest;
  let client: WireClient;

  before(async () => {
    server = await startEnvtest({ auditLog });
    client = wireClient(server.kubeconfigFile);
  });

  after(async () => {
    await client?.close();
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  it('is a Kubernetes 1.34', async () => {
    const { body } = await client.call('GET', '/version');
    expect(body['gitVersion']).to.match(/^v1\.34\./);
  });

  it('records every request in the audit log', async () => {
    await client.call('GET', '/api/v1/namespaces/nowhere');
    const events = readFileSync(auditLog, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const ours = events.filter((event) => event['requestURI'] === '/api/v1/namespaces/nowhere');
    expect(ours).to.have.length(1);
    expect(ours[0]).to.deep.include({ level: 'Metadata', stage: 'ResponseComplete', verb: 'get' });
  });

  it('issues tokens of service accounts', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await client.call('POST', accounts, { body: { metadata: { name: 'someone' } } });
    const { body } = await client.call('POST', `${accounts}/someone/token`, {
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    });
    const review = await client.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      body: { spec: { token: body['status'].token } },
    });
    expect(review.body['status'].user.username).to.equal('system:serviceaccount:default:someone');
  });

  it('runs beside another one and leaves nothing behind', async () => {
    const other = await startEnvtest();
    const place = dirname(other.kubeconfigFile);
    expect(other.url).not.to.equal(server.url);
    expect(existsSync(place)).to.equal(true);
    await other.stop();
    expect(existsSync(place)).to.equal(false);
    expect((await client.call('GET', '/readyz')).status).to.equal(200);
  });
});
