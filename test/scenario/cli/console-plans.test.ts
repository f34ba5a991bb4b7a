/** Plans of the console in the cluster, for users with different rights, by the real command. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { installationKind } from '../../../src/api/landscaper-kinds.ts';
import { contextKind } from '../../../src/api/kinds/context.ts';
import type { DeployItemTemplate } from '../../../src/api/kinds/execution.ts';
import { API_VERSION, GROUP } from '../../../src/api/labels.ts';
import type { Allowances } from '../../../src/cli/console/in-cluster/allowances.ts';
import type { Plan } from '../../../src/cli/console/wire.ts';
import {
  LANDSCAPES,
  named,
  NAMESPACE,
  startRightsStage,
  type RightsStage,
} from '../../support/console-rights.ts';
import { root } from '../../support/landscape.ts';
import { skip, WITHOUT_PROC } from '../../support/skip.ts';
import { collected, installation } from '../../unit/cli/given.ts';
import { eventually } from '../../support/waiting.ts';

const PLANNING = [
  {
    apiGroups: [GROUP],
    resources: ['installations', 'executions', 'deployitems', 'dataobjects', 'targets', 'contexts'],
    verbs: ['get', 'list', 'watch'],
  },
];
const SECRETS = [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['access'], verbs: ['get'] }];

const items = [
  {
    name: 'settings',
    type: `${GROUP}/kubernetes-manifest`,
    target: { import: 'cluster' },
    config: {
      apiVersion: `manifest.deployer.${GROUP}/v1alpha2`,
      kind: 'ProviderConfiguration',
      manifests: [
        { policy: 'manage', manifest: { ...named('v1', 'ConfigMap', 'settings'), data: { color: 'blue' } } },
      ],
    },
  },
] as unknown as DeployItemTemplate[];

const URL_OF_PLAN = `/api/landscapes/${NAMESPACE}/web/changes`;

describe('plans of the console in the cluster, for users with different rights', function () {
  this.timeout(120_000);
  let stage: RightsStage;

  before(async () => {
    const rules = {
      owner: [...PLANNING, ...SECRETS],
      planner: PLANNING,
      viewer: [LANDSCAPES],
    };
    stage = await startRightsStage(rules, ['stranger']);
    await stage.create(contextKind, named(API_VERSION, 'Context', 'default'));
    const web = root('web', {
      items,
      more: { imports: [{ name: 'cluster', type: 'target', targetType: `${GROUP}/kubernetes-cluster` }] },
      spec: { imports: { targets: [{ name: 'cluster', target: 'other' }] } },
    });
    await stage.create(installationKind, { ...web, metadata: { ...web.metadata, namespace: NAMESPACE } });
  });
  after(() => stage?.close());

  const plans: Allowances['plans'] = {
    total: 2,
    perUser: 1,
    memoryMiB: 1024,
    timeoutMs: 60_000,
    planArgs: [],
  };
  const login = (user: string, allowances: Allowances = { targets: true, plans }) =>
    stage.login(user, collected(installation('web', { phase: 'Succeeded' })), allowances);

  it('have the rights of the viewer, and no other token is used', async () => {
    const owner = await login('owner');
    stage.proxy.tokens.clear();
    const answer = await owner.get(URL_OF_PLAN);
    const [item] = answer.json<Plan>().items;
    expect(item?.problem, answer.body).to.equal(undefined);
    expect(item?.objects.map(({ change, name }) => `${change} ${name}`)).to.deep.equal(['create settings']);
    const tokenOfTarget = /token: (\S+)/.exec(stage.host.kubeconfig)?.[1];
    expect([...stage.proxy.tokens].sort()).to.deep.equal(['token-of-owner', tokenOfTarget].sort());
    await owner.close();
  });

  it('do not connect to targets whose credentials the viewer may not read', async () => {
    const planner = await login('planner');
    stage.proxy.tokens.clear();
    const answer = await planner.get(URL_OF_PLAN);
    const [item] = answer.json<Plan>().items;
    expect(item?.problem).to.contain('secrets').and.contain('forbidden');
    expect([...stage.proxy.tokens]).to.deep.equal(['token-of-planner']);
    await planner.close();
  });

  it('are refused to viewers who may only list landscapes, or nothing', async () => {
    const viewer = await login('viewer');
    stage.proxy.tokens.clear();
    const refused = await viewer.get(URL_OF_PLAN);
    expect(refused.statusCode).to.equal(502);
    expect(refused.body).to.contain('forbidden').and.contain('dataobjects');
    expect([...stage.proxy.tokens]).to.deep.equal(['token-of-viewer']);
    await viewer.close();
    const stranger = await login('stranger');
    expect((await stranger.get(URL_OF_PLAN)).statusCode).to.equal(404);
    await stranger.close();
  });

  it('are not made unless that is allowed', async () => {
    const owner = await login('owner', { targets: true });
    const refused = await owner.get(URL_OF_PLAN);
    expect(refused.statusCode).to.equal(501);
    expect(refused.body).to.contain('ask an administrator to set console.plans.enabled');
    await owner.close();
  });

  it('run one at a time for each user, in a process that does not show the token and ends with the session', async function () {
    if (process.platform !== 'linux') skip(this, WITHOUT_PROC);
    const owner = await login('owner');
    const first = owner.get(URL_OF_PLAN);
    const pid = await planProcess();
    const visible = ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8')).join();
    expect(visible).to.contain('--max-old-space-size=512').and.not.contain('token-of');
    const second = await owner.get(URL_OF_PLAN);
    expect(second.statusCode).to.equal(429);
    expect(second.body).to.contain('another plan of yours');
    await owner.close();
    await first.catch(() => undefined);
    await eventually('the process that plans has ended', () => commandOf(pid) === '');
  });
});

/** The id of the running process that plans. */
const planProcess = (): Promise<string> =>
  eventually('a process plans', () =>
    readdirSync('/proc').find(
      (name) => /^\d+$/.test(name) && isOwnChild(name) && commandOf(name).includes('--kubeconfig-stdin'),
    ),
  );

const isOwnChild = (pid: string): boolean =>
  fileOf(pid, 'status').includes(`PPid:\t${String(process.pid)}\n`);
const commandOf = (pid: string): string => fileOf(pid, 'cmdline');

/** Empty if there is no such process, or it has ended. */
function fileOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
