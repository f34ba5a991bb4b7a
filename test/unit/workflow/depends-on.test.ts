/** How nodes name the nodes that they depend on: by their dependents, or by names. */
import { expect } from 'chai';
import { ConfigMap, Secret, Service } from '../../../src/runtime/core-kinds.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { kubernetes } from '../../../src/workflow/kubernetes.ts';
import { dependenciesOf, type NodeSpec } from '../../../src/workflow/node.ts';
import { buildWorkflow } from '../../../src/workflow/workflow.ts';

interface Page extends Obj {
  spec: { text: string };
}
interface Site extends Obj {
  spec: { pages: string[] };
}

const named = { metadata: { name: 'a' } };
const text = kubernetes<ConfigMap, Page>({ kind: ConfigMap, desired: () => named });
const service = kubernetes<Service, Page>({ kind: Service, desired: () => named });
const password = kubernetes<Secret, Page>({ kind: Secret, desired: () => named });
const ofSite = kubernetes<Secret, Site>({
  kind: Secret,
  desired: (site) => ({ ...named, stringData: { first: site.spec.pages[0] ?? '' } }),
});

describe('the dependencies of a node', () => {
  it('are dependents or names', () => {
    const node: NodeSpec<Page> = { use: service, dependsOn: [text, 'secret'] };
    expect(dependenciesOf(node)).to.deep.equal(['configMap', 'secret']);
    expect(dependenciesOf({ use: text })).to.deep.equal([]);
    expect(() => buildWorkflow<Page>([{ use: text }, { use: password }, node])).to.not.throw();
  });

  it('have to be nodes of the workflow', () => {
    expect(() => buildWorkflow<Page>([{ use: service, dependsOn: [text] }])).to.throw(
      '"service" depends on "configMap", which does not exist; there are service',
    );
  });

  it('are checked by the compiler', () => {
    // @ts-expect-error a misspelled dependent
    const misspelled = (): NodeSpec<Page> => ({ use: service, dependsOn: [txt] });
    // @ts-expect-error a dependent of another kind of primaries
    const foreign: NodeSpec<Page> = { use: service, dependsOn: [ofSite] };
    expect(misspelled).to.throw(ReferenceError);
    expect(dependenciesOf(foreign)).to.deep.equal(['secret']);
  });
});
