/** `espalier console --in-cluster` as a program with TLS, in a browser: users of a cluster that checks permissions. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { startApiServer, type ApiServer } from '../../src/apiserver/server.ts';
import { installationKind } from '../../src/api/kinds/installation.ts';
import { API_VERSION, GROUP } from '../../src/api/labels.ts';
import { roleBindingKind, roleKind } from '../../src/cli/commands/install/kinds.ts';
import { applyAll, namespaceObject } from '../../src/cli/objects.ts';
import { ensureCrds } from '../../src/landscape/ensure-crds.ts';
import { createAuthority, issueCertificate } from '../../src/lib/certificates.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { silentLogger as log } from '../../src/observability/log.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { connect } from '../../src/runtime/transport/http.ts';
import type { Client, Kind, Obj } from '../../src/runtime/types.ts';
import { useBrowser } from './browser.ts';

const PROGRAM = join(import.meta.dirname, '../../dist/src/cli/main.js');
const TOKENS = { admin: 'token-of-admin', viewer: 'token-of-viewer', withoutRights: 'token-without-rights' };
const users = [
  { username: 'admin', groups: ['system:masters'], token: TOKENS.admin },
  { username: 'viewer', groups: [], token: TOKENS.viewer },
  { username: 'without-rights', groups: [], token: TOKENS.withoutRights },
];

describe('the console in a cluster, in a browser', function () {
  this.timeout(60_000);
  const own = useBrowser();
  let server: ApiServer;
  let client: Client;
  let folder: string;
  let program: ChildProcess;
  let url: string;

  before(async function () {
    this.timeout(120_000);
    server = await startApiServer({ authorization: 'RBAC', users });
    client = createClient(
      await connect({ kubeconfig: { text: server.kubeconfig }, userAgent: 'test', clock, log }),
    );
    await ensureCrds(client, clock, log);
    await applyAll(client, ['shop', 'bank'].map(namespaceObject));
    for (const key of ['shop/web', 'bank/vault']) await create(installationKind, landscape(key));
    await create(roleKind, {
      ...named('Role', RBAC, 'shop/viewer'),
      rules: [
        {
          apiGroups: [GROUP],
          resources: ['installations', 'executions', 'deployitems'],
          verbs: ['get', 'list', 'watch'],
        },
      ],
    } as Obj);
    await create(roleBindingKind, {
      ...named('RoleBinding', RBAC, 'shop/viewer'),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'viewer' },
      subjects: [{ kind: 'User', name: 'viewer' }],
    } as Obj);
    folder = mkdtempSync(join(tmpdir(), 'espalier-console-'));
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    const authority = createAuthority('test');
    const { key, certificate } = issueCertificate(authority, createPrivateKey(authority.key), {
      commonName: 'console',
      hosts: ['localhost'],
      usage: 'server',
    });
    const args = ['console', '--in-cluster', '--host', '127.0.0.1', '--port', '0'];
    const files = {
      '--kubeconfig': file('kubeconfig', server.kubeconfig),
      '--tls-cert': file('tls.crt', certificate),
      '--tls-key': file('tls.key', key),
    };
    program = spawn(process.execPath, [PROGRAM, ...args, ...Object.entries(files).flat()], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    url = `https://localhost:${await startedPort(program)}`;
  });
  after(async () => {
    if (program?.exitCode === null) {
      program.kill('SIGTERM');
      await once(program, 'exit');
    }
    await client?.close();
    await server?.close();
    if (folder) rmSync(folder, { recursive: true });
  });

  const create = async (kind: Kind, object: Obj): Promise<void> => {
    await client.send({ verb: 'create', kind, object });
  };

  async function open(path = '/'): Promise<Page> {
    const context = await own.browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await page.goto(url + path);
    return page;
  }
  async function login(page: Page, token: string): Promise<void> {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Log in' }).click();
  }

  it('asks for a token, and says when it is wrong', async () => {
    const page = await open();
    await login(page, 'wrong');
    await page.getByRole('alert').getByText('does not accept the token').waitFor();
    await page.locator('input[name=token]:focus').waitFor();
    expect(await page.getByLabel('Token').inputValue()).to.equal('');
    await login(page, TOKENS.admin);
    await page.getByRole('link', { name: 'vault' }).waitFor();
    await page.getByText('· all namespaces').waitFor();
    await page.locator('h1:focus').getByText('Landscapes').waitFor();
    await page.context().close();
  });

  it('keeps the address that the user opened, and no token in the browser', async () => {
    const page = await open('/landscapes/shop/web');
    await login(page, TOKENS.viewer);
    await page.getByRole('treeitem', { name: 'Installation web' }).waitFor();
    const [cookie, ...others] = await page.context().cookies();
    expect(others).to.deep.equal([]);
    expect(cookie).to.include({ name: '__Host-espalier-console', httpOnly: true, secure: true });
    expect(JSON.stringify(await page.context().storageState())).not.to.contain(TOKENS.viewer);
    await page.context().close();
  });

  it('shows a viewer one namespace, with disabled actions', async () => {
    const page = await open();
    await login(page, TOKENS.viewer);
    await page.getByText('· namespace shop').waitFor();
    expect(await page.getByRole('row').count()).to.equal(2);
    await page.getByRole('link', { name: 'web' }).click();
    await page
      .locator('button[title*="You may not patch installations in namespace shop"]')
      .first()
      .waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).isDisabled()).to.equal(true);
    await page.goto(`${url}/landscapes/bank/vault`);
    await page.getByText('There is no root installation bank/vault').waitFor();
    await page.getByText('or you may not list installations in its namespace').waitFor();
    await page.context().close();
  });

  it('tells a user without permissions which are missing', async () => {
    const page = await open();
    await login(page, TOKENS.withoutRights);
    await page.getByText('You may not list installations in any namespace').waitFor();
    await page.context().close();
  });

  it('shows the login in all pages after a logout', async () => {
    const page = await open();
    await login(page, TOKENS.admin);
    await page.getByRole('link', { name: 'vault' }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${url}/landscapes/bank/vault`);
    await other.getByRole('treeitem').waitFor();
    await page.getByRole('button', { name: 'Log out admin' }).click();
    for (const each of [page, other]) {
      await each.getByRole('heading', { name: 'Log in' }).waitFor();
      expect(await each.content()).not.to.contain('vault</');
      await each.locator('input[name=token]:focus').waitFor();
    }
    await page.context().close();
  });
});

const RBAC = 'rbac.authorization.k8s.io/v1';

/** The port in the log line `started`. */
async function startedPort(program: ChildProcess): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: program.stderr ?? expect.fail('no stderr') })) {
    lines.push(line);
    const [, port] = /"port":(\d+).*"started"/.exec(line) ?? [];
    if (port !== undefined) return port;
  }
  throw new Error(`the console did not start: ${lines.join('\n')}`);
}

function named(kind: string, apiVersion: string, key: string): Obj {
  const [name = '', namespace] = key.split('/').toReversed();
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
}

const landscape = (key: string): Obj =>
  ({
    ...named('Installation', API_VERSION, key),
    spec: { blueprint: { inline: { filesystem: { 'blueprint.yaml': '{}' } } } },
  }) as Obj;
