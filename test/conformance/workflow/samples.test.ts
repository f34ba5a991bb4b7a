/** The operators of the documentation, with any Kubernetes API server. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { addWebPages, webPages, type WebPage } from '../../../docs/samples/operators/webpage/operator.ts';
import { ConfigMap, Deployment, Ingress, Service } from '../../../src/runtime/core-kinds.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import {
  read,
  startOperatorCluster,
  startProcess,
  type AnyObj,
  type OperatorCluster,
  type OperatorProcess,
} from '../../support/operators.ts';
import { eventually } from '../../support/waiting.ts';

const folder = join(import.meta.dirname, '../../../docs/samples/operators/webpage');
const GOOD = '<html>hello</html>';

describe('the operator of web pages', function () {
  this.timeout(60_000);
  let cluster: OperatorCluster;
  let operator: OperatorProcess;
  let namespace: string;
  before(async () => {
    cluster = await startOperatorCluster();
    await cluster.install(parseYaml(readFileSync(join(folder, 'webpages.yaml'), 'utf8')) as AnyObj);
  });
  beforeEach(async () => {
    namespace = await cluster.namespace();
    operator = await startProcess(cluster, (manager) => void addWebPages(manager));
  });
  afterEach(() => operator.stop());
  after(() => cluster?.stop());

  const key = (name: string): string => `${namespace}/${name}`;
  const create = (name: string, spec: WebPage['spec']): Promise<WebPage> =>
    cluster.client.send({
      verb: 'create',
      kind: webPages,
      object: { apiVersion: 'example.org/v1', kind: 'WebPage', metadata: { name, namespace }, spec },
    });
  const edit = (name: string, spec: Partial<WebPage['spec']>) =>
    cluster.client.send({ verb: 'merge', kind: webPages, key: key(name), body: { spec } });
  const there = async (kind: Kind<never> | Kind, name: string): Promise<Obj | undefined> =>
    read(cluster, kind as Kind, key(name));
  const statusOf = async (name: string): Promise<WebPage['status']> =>
    (await read(cluster, webPages, key(name)))?.status;
  const told = (name: string) => eventually('the status tells', () => statusOf(name));

  it('RUN-69: creates everything, and publishes the name of the ConfigMap', async () => {
    await create('p', { html: GOOD });
    await eventually('the status tells', async () => (await statusOf('p'))?.configMap);
    expect(await statusOf('p')).to.include({ configMap: 'p' });
    for (const kind of [ConfigMap, Deployment, Service]) {
      const { labels, ownerReferences } = (await there(kind, 'p'))?.metadata ?? {};
      expect(labels).to.deep.equal({ 'app.kubernetes.io/managed-by': 'webpage-operator' });
      expect(ownerReferences?.map(({ name }) => name)).to.deep.equal(['p']);
    }
    expect(await there(Ingress, 'p')).to.equal(undefined);
  });

  it('RUN-70, RUN-90: changes nothing for an invalid page, and reports why', async () => {
    await create('p', { html: 'hello' });
    expect(await told('p')).to.deep.equal({ error: 'spec.html does not end with </html>' });
    expect(operator.client.writes).to.deep.equal(['merge status WebPage p']);
    await edit('p', { html: GOOD });
    await eventually('the Service is there', () => there(Service, 'p'));
    await eventually('the error is gone', async () => (await statusOf('p'))?.error === undefined);
  });

  it('RUN-70, RUN-89: creates an Ingress last if the page is exposed, and deletes it afterwards', async () => {
    await create('p', { html: GOOD, exposed: true });
    await eventually('the Ingress is there', () => there(Ingress, 'p'));
    const applies = operator.client.writes.filter((write) => write.startsWith('apply'));
    expect(applies[0]).to.equal('apply ConfigMap p');
    expect(applies.slice(1, 3).sort()).to.deep.equal(['apply Deployment p', 'apply Service p']);
    expect(applies[3]).to.equal('apply Ingress p');
    await edit('p', { exposed: false });
    await eventually('the Ingress is gone', async () => !(await there(Ingress, 'p')));
    expect(await there(Service, 'p')).to.not.equal(undefined);
    await edit('p', { exposed: true });
    await eventually('the Ingress is there again', () => there(Ingress, 'p'));
  });

  it('RUN-85: neither creates nor watches Ingresses if the API server does not serve them', async () => {
    await operator.stop();
    operator = await startProcess(cluster, (manager) => void addWebPages(manager, { hasIngress: false }));
    await create('p', { html: GOOD, exposed: true });
    await eventually('the status tells', async () => (await statusOf('p'))?.configMap);
    expect(operator.client.watches.map((watch) => watch.split(' ')[0]))
      .to.include('services')
      .and.not.include('ingresses');
    expect(await there(Ingress, 'p')).to.equal(undefined);
  });

  it('RUN-85: watches them from the first page on if they are served', async () => {
    expect(operator.client.watches.map((watch) => watch.split(' ')[0])).to.not.include('ingresses');
    await create('p', { html: GOOD, exposed: true });
    await eventually('the Ingress is there', () => there(Ingress, 'p'));
    expect(operator.client.watches.map((watch) => watch.split(' ')[0])).to.include('ingresses');
  });

  it('repairs changes of users, without changing the status', async () => {
    await create('p', { html: GOOD });
    await eventually('the status tells', async () => (await statusOf('p'))?.configMap);
    const body = { data: { 'index.html': 'defaced' } };
    await cluster.client.send({ verb: 'merge', kind: ConfigMap, key: key('p'), body });
    await eventually('it is healed', async () => {
      const found = (await there(ConfigMap, 'p')) as { data?: Record<string, string> } | undefined;
      return found?.data?.['index.html'] === GOOD;
    });
    expect(operator.client.writes.filter((write) => write.includes('status'))).to.have.length(1);
  });
});
