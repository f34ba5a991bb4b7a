/** Credentials from commands and auth providers of a kubeconfig. */
import { expect } from 'chai';
import { KubeconfigError } from '../../../src/runtime/errors.ts';
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
  it('know that there is no terminal, and what the kubeconfig sets', async () => {
    const script = credential('{ token: process.env.KUBERNETES_EXEC_INFO + process.env.MORE }');
    const { exec } = command(script);
    const { headers } = await ask({ exec: { ...exec, env: [{ name: 'MORE', value: '!' }] } });
    const info =
      '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}}';
    expect(headers).to.deep.equal({ authorization: `Bearer ${info}!` });
  });

  const failing = 'console.error("log in\\nfirst\\u001b[0m"); process.exit(1)';
  const node = `the command ${process.execPath}, which the kubeconfig uses to get credentials,`;
  const rows: readonly (readonly [string, object, string])[] = [
    [
      'it fails',
      command(failing),
      `${node} failed: log in first\\u001b[0m; run it to see more: ${process.execPath}`,
    ],
    [
      'it fails silently',
      command('process.exit(1)'),
      `${node} failed without a message; run it to see more: ${process.execPath}`,
    ],
    [
      'it prints no JSON',
      command('console.log("s3cret")'),
      `${node} did not print an ExecCredential; run it to see more: ${process.execPath}`,
    ],
    [
      'it prints another object',
      command('console.log("{}")'),
      `${node} did not print an ExecCredential; run it to see more: ${process.execPath}`,
    ],
    [
      'it does not exist',
      { exec: { command: 'no-such-plugin' } },
      'the command no-such-plugin, which the kubeconfig uses to get credentials, was not found; install it, and check PATH or the path in the kubeconfig',
    ],
    [
      'it does not exist, but the kubeconfig has a hint',
      { exec: { command: 'no-such-plugin', installHint: 'brew install it\n' } },
      'the command no-such-plugin, which the kubeconfig uses to get credentials, was not found; brew install it',
    ],
    [
      'it cannot be executed',
      { exec: { command: import.meta.filename } },
      `the command ${import.meta.filename}, which the kubeconfig uses to get credentials, is not executable; install it, and check PATH or the path in the kubeconfig`,
    ],
    [
      'there is none',
      { exec: {} },
      "the kubeconfig's user has an exec without a command; add it, or remove exec",
    ],
  ];
  for (const [title, user, message] of rows)
    it(`are missing if ${title}, which is reported`, async () => {
      const error: unknown = await ask(user).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(KubeconfigError);
      expect((error as Error).message).to.equal(message);
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
