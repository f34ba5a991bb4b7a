/** Credentials from commands and auth providers of a kubeconfig. */
import { expect } from 'chai';
import { clientNodeCredentials } from '../../../src/runtime/transport/client-node.ts';

const context = 'x';
const command = (script: string) => ({ exec: { command: process.execPath, args: ['-e', script] } });
const credential = (status: string) =>
  `console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: ${status} }))`;
/** Every run of the command prints another token. */
const changing = command(credential('{ token: String(process.hrtime.bigint()) }'));

describe('credentials of a command', () => {
  const ask = (user: object, refused = false, from = clientNodeCredentials()) =>
    from({ kubeconfig: 'not read', context, user: user as Record<string, unknown>, refused });

  it('are its token', async () => {
    const { headers } = await ask(command(credential('{ token: "secret" }')));
    expect(headers).to.deep.equal({ authorization: 'Bearer secret' });
  });
  it('are its certificate', async () => {
    const user = command(credential('{ clientCertificateData: "CERT", clientKeyData: "KEY" }'));
    expect(await ask(user)).to.deep.equal({ headers: {}, tls: { cert: 'CERT', key: 'KEY' } });
  });
  it('are reused until the server rejects them', async () => {
    const from = clientNodeCredentials();
    const first = await ask(changing, false, from);
    expect(await ask(changing, false, from)).to.deep.equal(first);
    expect(await ask(changing, true, from)).not.to.deep.equal(first);
  });
  it('are missing if it fails, which is reported with its message', async () => {
    const failure = await ask(command('console.error("log in first"); process.exit(1)')).catch(String);
    expect(failure).to.contain('log in first');
  });
});

describe('credentials of an auth provider', () => {
  it('are those in the kubeconfig', async () => {
    const config = { 'cmd-path': process.execPath, 'access-token': 'held', expiry: '2999-01-01T00:00:00Z' };
    const user = { 'auth-provider': { name: 'gcp', config } };
    const kubeconfig = JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: 'https://localhost' } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: context, context: { cluster: 'c', user: 'u' } }],
    });
    const { headers } = await clientNodeCredentials()({ kubeconfig, context, user, refused: false });
    expect(headers).to.deep.equal({ authorization: 'Bearer held' });
  });
});
