/** Rendering without a cluster ends as a job does: with the same result, or the same first error. */
import { expect } from 'chai';
import { API_VERSION } from '../../../../src/api/labels.ts';
import {
  renderTree,
  type RenderedInstallation,
} from '../../../../src/cli/commands/blueprints/rendering/render-tree.ts';
import { suppliedExports } from '../../../../src/cli/commands/blueprints/rendering/supplied-exports.ts';
import { defaults } from '../../../../src/cli/configuration/configuration.ts';
import { TreeBudget } from '../../../../src/cli/tree/budget.ts';
import { inThisThread } from '../../../../src/blueprint/work.ts';
import { installationContext, objectName } from '../../../../src/dataflow/scope.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { FakeClock } from '../../../support/clock.ts';
import { blueprint, imports, installation } from '../../dataflow/given.ts';

interface Given {
  readonly fields: object;
  readonly spec?: object;
  readonly metadata?: object;
  /** Content of the exports file. */
  readonly exports?: object;
}

const rendered = ({ fields, spec = {}, metadata = {}, exports }: Given): Promise<RenderedInstallation> =>
  renderTree(installation('stack', spec, metadata), blueprint(fields), imports({}), {
    runner: inThisThread({ clock: new FakeClock(), rng: seededRng(1) }),
    components: undefined,
    exports: exports && suppliedExports(exports, 'exports.yaml'),
    isDeep: true,
    secretTargets: [],
    budget: new TreeBudget(defaults.limits),
  });

const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing has failed',
    (error: unknown) => (error as Error).message,
  );

const go = (template: string) => ({ name: 'e', type: 'GoTemplate', template });
const filesystem = (fields: object) => ({
  'blueprint.yaml': JSON.stringify({
    apiVersion: API_VERSION,
    kind: 'Blueprint',
    ...fields,
  }),
});
const failing = { deployExecutions: [go('{{ fail "no items" }}')] };
/** Its blueprint is in a component, and the parent has none. */
const unavailable = { name: 'second', blueprint: { ref: 'cd://resources/bp' } };

const valueOf = ({ exports }: RenderedInstallation): unknown => {
  const [first] = typeof exports === 'string' ? [] : exports;
  return first && 'data' in first ? first.data : exports;
};

describe('an installation that is rendered without a cluster', () => {
  it('fails for a sub-installation that cannot be created before deploy items that cannot be rendered', async () => {
    const fields = { ...failing, subinstallations: [unavailable] };
    expect(await failureOf(rendered({ fields }))).to.contain('unable to create installation for second: ');
  });

  it('fails for a sub-installation that cannot be created before anything below another is rendered', async () => {
    const first = { name: 'first', blueprint: { filesystem: filesystem(failing) } };
    const fields = { subinstallations: [first, unavailable] };
    expect(await failureOf(rendered({ fields }))).to.contain('unable to create installation for second: ');
  });

  const declared = { exports: [{ name: 'id', type: 'data', schema: {} }] };
  const exporting = { exports: { data: [{ name: 'id', dataRef: 'id' }] } };

  it('executes export executions although it exports nothing', async () => {
    const fields = { exportExecutions: [go('{{ fail "no exports" }}')] };
    expect(await failureOf(rendered({ fields }))).to.contain('no exports');
  });

  it('does not execute them while the exports of its deploy items are unknown', async () => {
    const item = '{name: i, type: x, target: {name: t}, config: {}}';
    const fields = {
      deployExecutions: [go(`deployItems: [${item}]`)],
      exportExecutions: [go('{{ fail "no exports" }}')],
    };
    expect((await rendered({ fields })).exports).to.deep.equal([]);
    expect(await failureOf(rendered({ fields, exports: {} }))).to.contain('no exports');
  });

  it('executes import executions again for its exports', async () => {
    const { items, ...rest } = await rendered({
      fields: {
        ...declared,
        importExecutions: [go('bindings: {id: {{ uuidv4 }}}')],
        deployExecutions: [
          go('deployItems: [{name: i, type: x, target: {name: t}, config: {id: "{{ .imports.id }}"}}]'),
        ],
        exportExecutions: [go('exports: {id: "{{ .imports.id }}"}')],
      },
      spec: exporting,
      exports: {},
    });
    expect(valueOf({ items, ...rest })).to.match(/^[0-9a-f-]{36}$/);
    expect(valueOf({ items, ...rest })).to.not.equal(items[0]?.config['id']);
  });

  it('exports into the context of its parent', async () => {
    const { exports } = await rendered({
      fields: { ...declared, exportExecutions: [go('exports: {id: 1}')] },
      spec: exporting,
      metadata: {
        ownerReferences: [
          {
            apiVersion: API_VERSION,
            kind: 'Installation',
            name: 'above',
            uid: 'uid-above',
            controller: true,
          },
        ],
      },
    });
    expect(exports).to.have.nested.property(
      '[0].metadata.name',
      objectName(installationContext('above'), 'id'),
    );
  });

  it('shows the state of its export executions', async () => {
    const { states } = await rendered({
      fields: { exportExecutions: [go('{exports: {}, state: {count: 1}}')] },
    });
    expect(states.map(({ state }) => state)).to.deep.equal([{ count: 1 }]);
  });
});
