/** Every step of the tutorial installs: on the server of the previous step, as a reader does it, and on a new one. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { dataObjectKind, type DataObject } from '../../../src/api/kinds/dataobject.ts';
import { configMapKind, deploymentKind } from '../../../src/cli/commands/install/kinds.ts';
import { withEmbeddedLandscaper } from '../../../src/cli/composition/embedded-landscaper.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { fakeTerminal, type FakeTerminal } from '../../unit/cli/terminal.ts';
import { timeoutOption } from '../../support/patience.ts';

const tutorial = join(import.meta.dirname, '../../../docs/tutorial');
const folderOf = (step: string): string => join(tutorial, step);

type Ended = FakeTerminal & { code: number };

interface Server {
  readonly client: Client;
  run(...args: readonly string[]): Promise<Ended>;
  apply(folder: string): Promise<Ended>;
}

const withServer = (use: (server: Server) => Promise<void>): Promise<void> =>
  withEmbeddedLandscaper({ simulate: true, log: silentLogger }, {}, ({ embedded, landscaper }) => {
    const run = async (...args: readonly string[]): Promise<Ended> => {
      const terminal = fakeTerminal({ env: { KUBECONFIG: embedded.kubeconfigFile } });
      return Object.assign(terminal, { code: await runProgram(args, terminal) });
    };
    const apply = (folder: string) => run('apply', folder, '--wait', ...timeoutOption());
    return use({ client: landscaper.client, run, apply });
  });

type Content = Obj & { readonly data?: Readonly<Record<string, string>>; readonly status?: object };

const read = async (client: Client, kind: Kind, name: string): Promise<Content | undefined> =>
  getIfThere<Content>(client, kind, `shop/${name}`);
const settingsOf = async (client: Client) => (await read(client, configMapKind, 'web'))?.data;
const replicasOf = async (client: Client) => {
  const deployment = await read(client, deploymentKind, 'web');
  return (deployment?.status as { readyReplicas?: number } | undefined)?.readyReplicas;
};
const endpointOf = async (client: Client) => {
  const found = await getIfThere<DataObject>(client, dataObjectKind, 'shop/database-endpoint');
  return found?.data as { host: string; port: number } | undefined;
};

const GREETING = 'Welcome to the shop!';

async function hasAddressOfService(client: Client): Promise<void> {
  const { host, port } = (await endpointOf(client)) ?? { host: '', port: 0 };
  expect(host).to.match(/^10\./);
  expect(port).to.equal(5432);
  expect(await settingsOf(client)).to.deep.equal({ GREETING, DATABASE: `${host}:5432` });
}

/** The end of each step. */
const ends: Readonly<Record<string, (client: Client) => Promise<void>>> = {
  async '1-one-manifest'(client) {
    expect(await replicasOf(client)).to.equal(1);
  },
  async '2-imports'(client) {
    expect(await replicasOf(client)).to.equal(2);
    expect(await settingsOf(client)).to.deep.equal({ GREETING });
  },
  async '3-two-installations'(client) {
    expect(await endpointOf(client)).to.deep.equal({ host: 'database.shop.svc', port: 5432 });
    expect(await settingsOf(client)).to.deep.equal({ GREETING, DATABASE: 'database.shop.svc:5432' });
  },
  '4-readiness-and-exports': hasAddressOfService,
  '5-tests': hasAddressOfService,
};

describe('the tutorial', function () {
  this.timeout(180_000);

  it('has a folder for each step', () => {
    const folders = readdirSync(tutorial).filter((name) => name !== 'README.md');
    expect(folders.sort()).to.deep.equal(Object.keys(ends));
  });

  it('leads from step to step on one server', () =>
    withServer(async ({ client, apply }) => {
      for (const [step, check] of Object.entries(ends)) {
        const { code, errors } = await apply(folderOf(step));
        expect([code, errors], step).to.deep.equal([0, '']);
        await check(client);
      }
    }));

  for (const [step, check] of Object.entries(ends))
    it(`installs ${step} without the other steps`, () =>
      withServer(async ({ client, apply }) => {
        const { code, errors } = await apply(folderOf(step));
        expect([code, errors]).to.deep.equal([0, '']);
        await check(client);
      }));

  it('shows where the imports of its web server are from, as on the page about installations', () =>
    withServer(async ({ run, apply }) => {
      await apply(folderOf('4-readiness-and-exports'));
      const trace = (...args: readonly string[]) => run('inst', 'trace', ...args, '-n', 'shop');
      const page = readFileSync(join(tutorial, '../installations.md'), 'utf8');
      const { code, output } = await trace('web', 'database');
      expect(page).to.contain(`\`\`\`text\n${output}\`\`\``);
      expect(code).to.equal(0);
      const json = JSON.parse((await trace('web', 'settings', '-o', 'json')).output) as object;
      expect(json).to.have.nested.property('value.greeting', GREETING);
      expect(json).to.have.nested.property('from[0].text', 'DataObject shop/web-settings');
      const unknown = await trace('web', 'setting');
      expect(unknown.errors).to.contain('installation web has no import setting; did you mean settings?');
      expect((await trace('other', 'settings')).errors).to.contain('there is no installation other');
      expect([unknown.code, unknown.output]).to.deep.equal([1, '']);
    }));

  it('passes its own tests', async () => {
    const tested = Object.keys(ends).filter((step) =>
      existsSync(join(folderOf(step), 'landscape.test.yaml')),
    );
    expect(tested).to.deep.equal(['5-tests']);
    const terminal = fakeTerminal();
    const code = await runProgram(['test', folderOf('5-tests'), ...timeoutOption(300_000)], terminal);
    expect(terminal.output).to.match(/\n4 passed in /);
    expect(code).to.equal(0);
  });

  describe('the mistake that step 2 suggests', () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'espalier-tutorial-'));
    });
    afterEach(() => {
      rmSync(folder, { recursive: true });
    });

    it('fails the job with the message on the page', () =>
      withServer(async ({ apply }) => {
        cpSync(folderOf('2-imports'), folder, { recursive: true });
        const settings = join(folder, 'settings.yaml');
        writeFileSync(settings, readFileSync(settings, 'utf8').replace('replicas: 2', 'replicas: 0'));
        const { code, errors } = await apply(folder);
        expect(code).to.equal(1);
        expect(errors).to.contain('replicas: Must be greater than or equal to 1');
        const page = readFileSync(join(tutorial, 'README.md'), 'utf8');
        expect(page).to.contain('replicas: Must be greater than or equal to 1');
      }));
  });
});
