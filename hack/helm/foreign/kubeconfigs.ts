/** Reads foreign kubeconfigs with kubectl and with our client: the address, the namespace, and the credentials of the current context. */
import { spawnSync } from 'node:child_process';
import { messageOf } from '../../../src/lib/message-of.ts';
import { ownField } from '../../../src/lib/objects.ts';
import { loadAccess } from '../../../src/runtime/transport/kubeconfig.ts';
import { trimmedEnd } from '../../../src/lib/trim.ts';
import { rowOf, type NamedFile, type Outcome, type Row } from './table.ts';

export const hasKubectl = (): boolean => spawnSync('kubectl', ['version', '--client']).status === 0;

function byKubectl(file: string): Outcome {
  const args = ['config', 'view', '--kubeconfig', file, '--raw', '--minify', '--flatten', '--output', 'json'];
  const run = spawnSync('kubectl', args, { encoding: 'utf8' });
  if (run.status !== 0) return { error: run.stderr };
  const view: unknown = JSON.parse(run.stdout);
  const of = (list: string, field: string): unknown => {
    const entries = ownField(view, list);
    return Array.isArray(entries) ? ownField(entries[0], field) : undefined;
  };
  const text = (value: unknown, key: string): string => {
    const found = ownField(value, key);
    return typeof found === 'string' ? found : '';
  };
  const [cluster, user] = [of('clusters', 'cluster'), of('users', 'user')];
  const server = text(cluster, 'server');
  if (!URL.canParse(server)) return { error: `the server "${server}" is not an address` };
  const token = text(user, 'token').trim();
  const basic = `${text(user, 'username')}:${text(user, 'password')}`;
  const authorization =
    token !== ''
      ? `Bearer ${token}`
      : basic.startsWith(':')
        ? ''
        : `Basic ${Buffer.from(basic).toString('base64')}`;
  return outcomeOf({
    server: trimmedEnd(
      server.replace(/^[a-z]+:/i, (scheme) => scheme.toLowerCase()),
      '/',
    ),
    namespace: text(of('contexts', 'context'), 'namespace') || 'default',
    authorization,
    ca: text(cluster, 'certificate-authority-data'),
    certificate: text(user, 'client-certificate-data'),
    key: text(user, 'client-key-data'),
    servername: text(cluster, 'tls-server-name'),
    'proxy-url': text(cluster, 'proxy-url'),
    insecure: String(ownField(cluster, 'insecure-skip-tls-verify') === true),
    as: text(user, 'as'),
  });
}

async function byUs(file: string): Promise<Outcome> {
  try {
    const noPrograms = () => Promise.resolve({ headers: {}, tls: {} });
    const { server, namespace, proxyUrl = '', credentials } = await loadAccess({ file }, noPrograms);
    const { headers, tls } = await credentials(false);
    const data = (value: string | Buffer | undefined): string =>
      value === undefined ? '' : Buffer.from(value).toString('base64');
    return outcomeOf({
      server,
      namespace,
      authorization: String(headers['authorization'] ?? ''),
      ca: data(tls.ca),
      certificate: data(tls.cert),
      key: data(tls.key),
      servername: tls.servername ?? '',
      'proxy-url': proxyUrl,
      insecure: String(tls.rejectUnauthorized === false),
      as: String(headers['impersonate-user'] ?? ''),
    });
  } catch (error) {
    return { error: messageOf(error) };
  }
}

const outcomeOf = (facts: Readonly<Record<string, string>>): Outcome => ({
  parts: new Map(Object.entries(facts)),
});

export async function compareKubeconfigs(
  files: readonly NamedFile[],
  done: (row: Row) => void,
): Promise<void> {
  for (const { name, path } of files) done(rowOf(name, byKubectl(path), await byUs(path)));
}
