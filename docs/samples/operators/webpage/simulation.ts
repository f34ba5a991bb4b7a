/** Users create and change a web page while requests fail; afterwards it shows the last change. */
import { ConfigMap, Ingress, Service } from 'espalier/runtime';
import type { OperatorUnderTest, Scenario } from 'espalier/operator-testing';
import { addWebPages, webPages, type WebPage } from './operator.ts';

const key = 'default/hello';

export const hello = (spec: WebPage['spec']): WebPage => ({
  apiVersion: 'example.org/v1',
  kind: 'WebPage',
  metadata: { name: 'hello', namespace: 'default' },
  spec,
});

/** The operator, for tests with a script. */
export const webPageOperator: OperatorUnderTest = {
  crds: [new URL('webpages.yaml', import.meta.url)],
  add: (operator) => addWebPages(operator),
};

export const webPageScenario = (): Scenario => ({
  ...webPageOperator,
  async act(cluster) {
    const { client, random } = cluster;
    await client.send({ verb: 'create', kind: webPages, object: hello({ html: '<html>one</html>' }) });
    await cluster.advance(random.between(0, 10_000));
    const body = { spec: { html: '<html>two</html>', exposed: true } };
    await client.send({ verb: 'merge', kind: webPages, key, body });
    await cluster.advance(random.between(0, 10_000));
  },
  async check(cluster) {
    const page = await cluster.get(webPages, key);
    if (page?.status?.ready !== true) throw new Error('the page is not ready');
    const html = (await cluster.get(ConfigMap, key))?.data?.['index.html'];
    if (html !== '<html>two</html>') throw new Error(`the page shows ${String(html)}`);
    if (!(await cluster.get(Service, key))) throw new Error('there is no Service');
    if (!(await cluster.get(Ingress, key))) throw new Error('there is no Ingress');
  },
});
