/**
 * The results of a blueprint: copies of imports, sub-installations, deploy items and exports, or the step that
 * failed.
 */
import { expect } from 'chai';
import {
  loadBlueprintOrFail,
  renderExportObjects,
  renderForInit,
  type Tools,
} from '../../../../controllers/installation/gather/render.ts';
import { defaultLimits } from '../../../../src/api/limits.ts';
import { IssuerUnavailable } from '../../../../src/blueprint/kubeconfigs/errors.ts';
import { IssuedKubeconfigs, type IssueKubeconfig } from '../../../../src/blueprint/kubeconfigs/issued.ts';
import type { ImportSet } from '../../../../src/blueprint/import-set.ts';
import { stateSecretName, States } from '../../../../src/blueprint/state.ts';
import { GROUP } from '../../../../src/api/labels.ts';
import { PhaseError } from '../../../../src/machine/decision.ts';
import { child, installation, running } from '../../../support/given.ts';
import { blueprint, imports as importSet, runner } from '../../dataflow/given.ts';
import { JOB, target } from './given.ts';
import { inline } from './landscape.ts';

const stack = (spec: object = {}) => installation('stack', { spec, status: running(JOB, 'Init') });
const go = (template: string, name = 'e') => ({ name, type: 'GoTemplate', template });
const unused: IssueKubeconfig = () => Promise.reject(new Error('no kubeconfig is asked for here'));

interface Given {
  readonly bp?: object;
  readonly self?: ReturnType<typeof stack>;
  readonly imports?: ImportSet;
  readonly tools?: Partial<Tools>;
}
const toolsOf = (more: Partial<Tools> = {}): Tools => ({
  runner,
  states: new States(),
  kubeconfigs: new IssuedKubeconfigs(unused),
  limits: defaultLimits,
  ...more,
});
const none = importSet({});
const inInit = ({ bp = {}, self = stack(), imports = none, tools }: Given) =>
  renderForInit(self, blueprint(bp), imports, toolsOf(tools));
const noSources = { deployitems: {}, dataobjects: {}, targets: {} };
const inCompleting = ({ bp = {}, self = stack(), imports = none, tools }: Given) =>
  renderExportObjects(self, blueprint(bp), imports, noSources, toolsOf(tools));

async function failureOf(work: Promise<unknown>) {
  const result: unknown = await work.then(
    (value) => value,
    (error: unknown) => error,
  );
  return told(result);
}
function told(error: unknown) {
  if (!(error instanceof PhaseError)) throw new Error(`no PhaseError, but ${String(error)}`);
  const { operation, reason, message } = error.problem;
  return { operation, reason, message, conditions: error.conditions };
}
const SUB = { blueprint: { filesystem: { 'blueprint.yaml': '{}' } } };
const data = (name: string, more: object = {}) => ({ name, type: 'data', schema: {}, ...more });
const importing = {
  bp: { imports: [data('in')] },
  self: stack({ imports: { data: [{ name: 'in', dataRef: 'in' }] } }),
};
const step = (name: string, message: string) =>
  `Op: CreateImportsAndSubobjects - Reason: ${name} - Message: ${message}`;
const initFailure = { operation: 'handlePhaseInit', reason: 'CreateImportsAndSubobjects' };

describe('a rendered blueprint', () => {
  it('returns copies of imports, children and items', async () => {
    const { importObjects, children, items, states } = await inInit({
      bp: {
        ...importing.bp,
        subinstallations: [{ name: 'a', ...SUB }],
        deployExecutions: [go('deployItems: [{name: i, type: x, config: {value: {{ .imports.in }}}}]')],
      },
      self: importing.self,
      imports: importSet({ data: { in: 3 } }),
    });
    expect(importObjects.map((o) => 'data' in o && o.data)).to.deep.equal([3]);
    expect(children).to.have.nested.property('[0].name', 'a');
    expect(children).to.have.nested.property('[0].object.metadata.namespace', 'demo');
    expect(items).to.have.nested.property('[0].name', 'i');
    expect(items).to.have.deep.nested.property('[0].config', { value: 3 });
    expect(states).to.deep.equal([]);
  });
  it('returns the state of executions, also if one of them fails later', async () => {
    const states = (template: string) =>
      inInit({
        bp: { deployExecutions: [go('{state: {n: 1}, deployItems: []}', 'first'), go(template, 'second')] },
      }).then((rendered) => rendered.states.map(({ secretName }) => secretName));
    const first = stateSecretName('stack', 'deploy', 'first');
    expect(await states('deployItems: []')).to.deep.equal([first]);
    expect(await states('{{ fail "no" }}')).to.deep.equal([first]);
  });
  it('distinguishes children that cannot be rendered from items that can', async () => {
    const { children, items } = await inInit({
      bp: {
        subinstallations: [
          { name: 'a', ...SUB },
          { name: 'a', ...SUB },
        ],
        deployExecutions: [go('deployItems: []')],
      },
    });
    expect(told(children)).to.deep.include({ ...initFailure, conditions: [] });
    expect(told(children).message).to.match(
      /^Op: CreateImportsAndSubobjects - Reason: EnsureSubinstallations - Message: /,
    );
    expect(items).to.deep.equal([]);
  });
  it('rejects a child that no controller would process', async () => {
    const self = stack({ context: 7 });
    const { children } = await inInit({ self, bp: { subinstallations: [{ name: 'a', ...SUB }] } });
    expect(told(children).message).to.contain('unable to create installation for a: ');
  });
  it('reports items that cannot be rendered, with a condition', async () => {
    const { children, items } = await inInit({ bp: { deployExecutions: [go('{{ fail "no" }}')] } });
    const failure = told(items);
    expect(children).to.deep.equal([]);
    expect(failure).to.include(initFailure);
    expect(failure.message).to.match(
      /^Op: CreateImportsAndSubobjects - Reason: ReconcileExecution - Message: .*no/s,
    );
    expect(failure.conditions).to.have.length(1);
    expect(failure.conditions[0]).to.include({
      type: 'ReconcileExecution',
      status: 'False',
      reason: 'TemplatingFailed',
    });
    expect(failure.conditions[0]?.message).to.contain('no');
  });

  const secret = 'correct-horse';
  const fromSecret = importSet({ data: { in: secret } });
  const secretImports: ImportSet = {
    ...fromSecret,
    data: new Map([...fromSecret.data].map(([name, one]) => [name, { ...one, isSecret: true }])),
  };
  it('shows no secret in names of children', async () => {
    const { children } = await inInit({
      ...importing,
      imports: secretImports,
      bp: {
        ...importing.bp,
        subinstallationExecutions: [
          go(
            'subinstallations: [{name: "{{ .imports.in }}", blueprint: {filesystem: {blueprint.yaml: "{}"}}}]',
          ),
        ],
      },
    });
    expect(told(children).message).to.contain('the name of sub-installation 1').and.not.contain(secret);
  });
  it('shows no secret in names of items', async () => {
    const { items } = await inInit({
      ...importing,
      imports: secretImports,
      bp: {
        ...importing.bp,
        deployExecutions: [go('deployItems: [{name: "{{ .imports.in }}", type: x, config: {}}]')],
      },
    });
    expect(told(items).message).to.contain('the name of deploy item 1').and.not.contain(secret);
  });
  it('shows no secret in messages and conditions', async () => {
    const { items } = await inInit({
      ...importing,
      imports: secretImports,
      bp: { ...importing.bp, deployExecutions: [go('{{ fail .imports.in }}')] },
    });
    const { message, conditions } = told(items);
    expect(message).to.contain('[...]').and.not.contain(secret);
    expect(conditions[0]?.message).to.contain('[...]').and.not.contain(secret);
  });
  it('shows nothing of the state of executions, or of kubeconfigs', async () => {
    const name = stateSecretName('stack', 'deploy', 'e');
    const states = new States(new Map([[name, { password: secret }]]));
    const { items } = await inInit({
      bp: { deployExecutions: [go('{{ fail .state.password }}')] },
      tools: { states },
    });
    expect(told(items).message).to.contain('[...]').and.not.contain(secret);
  });
});

describe('imports of a blueprint', () => {
  it('that are missing end Init with the message of the phase', async () => {
    expect(await failureOf(inInit({ bp: { imports: [data('in')] } }))).to.deep.equal({
      ...initFailure,
      message: step('ConstructImports', 'blueprint defines import "in" of type data, which is not satisfied'),
      conditions: [],
    });
  });
  it('that are missing end Completing with its step', async () => {
    expect(await failureOf(inCompleting({ bp: { imports: [data('in')] } }))).to.deep.equal({
      operation: 'handlePhaseCompleting',
      reason: 'ConstructImportsForExports',
      message: 'blueprint defines import "in" of type data, which is not satisfied',
      conditions: [],
    });
  });

  const rejecting = { bp: { importExecutions: [go('errors: [too small, too blue]')] } };
  it('that executions reject end Init with a condition that lists the reasons', async () => {
    expect(await failureOf(inInit(rejecting))).to.deep.equal({
      ...initFailure,
      message: step('RenderImportExecutions', 'import validation failed: too small, too blue'),
      conditions: [
        {
          type: 'ValidateImports',
          status: 'False',
          reason: 'ImportValidationFailed',
          message: 'too small, too blue',
        },
      ],
    });
  });
  it('that executions reject end Completing without a condition', async () => {
    expect(await failureOf(inCompleting(rejecting))).to.deep.equal({
      operation: 'handlePhaseCompleting',
      reason: 'RenderImportExecutionsForExports',
      message: 'import validation failed: too small, too blue',
      conditions: [],
    });
  });
  it('whose executions fail are distinguished from those that reject', async () => {
    const { conditions } = await failureOf(inInit({ bp: { importExecutions: [go('{{ fail "no" }}')] } }));
    expect(conditions.map(({ message }) => message)).to.deep.equal(['Unable to template executions']);
  });
  it('that cannot be stored as a target end Init with a condition', async () => {
    const cluster = target('t', {}, { type: `${GROUP}/t` });
    const { message, conditions } = await failureOf(
      inInit({
        bp: {
          imports: [{ name: 't', type: 'target', targetType: 't' }],
          importExecutions: [go('bindings: {t: text}')],
        },
        self: stack({ imports: { targets: [{ name: 't', target: 't' }] } }),
        imports: importSet({ targets: { t: cluster } }),
      }),
    );
    const why = 'import "t" is of type target, but its value is not a target, which cannot be stored';
    expect(message).to.equal(step('CreateOrUpdateImports', why));
    expect(conditions).to.deep.equal([
      { type: 'CreateImports', status: 'False', reason: 'CreateTargets', message: why },
    ]);
  });
});

describe('exports of a blueprint', () => {
  const giving = (template: string) => ({
    bp: { exports: [data('out')], exportExecutions: [go(template)] },
    self: stack({ exports: { data: [{ name: 'out', dataRef: 'result' }] } }),
  });
  it('are objects for the parent, with the state of executions', async () => {
    const { objects, states } = await inCompleting(giving('{state: {n: 1}, exports: {out: 5}}'));
    expect(objects.map((o) => [o.metadata.name, 'data' in o && o.data])).to.deep.equal([['result', 5]]);
    expect(states.map(({ secretName }) => secretName)).to.deep.equal([
      stateSecretName('stack', 'export', 'e'),
    ]);
  });
  it('are hidden in the scope of the parent', async () => {
    const below = child('p', 'a', running(JOB));
    const given = giving('exports: {out: 5}');
    const { objects } = await inCompleting({
      ...given,
      self: { ...below, spec: { ...below.spec, exports: given.self.spec.exports } },
    });
    expect(objects[0]?.metadata.name).to.not.equal('result');
  });
  it('that cannot be created end the job with their step', async () => {
    const failure = await failureOf(inCompleting(giving('{{ fail "no" }}')));
    expect(failure).to.include({ operation: 'handlePhaseCompleting', reason: 'ConstructExports' });
    expect(failure.conditions).to.deep.equal([]);
  });
  it('show nothing of the exports of deploy items', async () => {
    const { bp, self } = giving('{{ fail .values.deployitems.i.password }}');
    const sources = { ...noSources, deployitems: { i: { password: 'correct-horse' } } };
    const { message } = await failureOf(renderExportObjects(self, blueprint(bp), none, sources, toolsOf()));
    expect(message).to.contain('[...]').and.not.contain('correct-horse');
  });
});

describe('a kubeconfig requested by a template', () => {
  const cluster = target('t', {}, { type: `${GROUP}/kubernetes-cluster`, config: {} });
  const given = (issue: IssueKubeconfig): Given => ({
    bp: {
      imports: [{ name: 't', type: 'target', targetType: 'kubernetes-cluster' }],
      deployExecutions: [
        go(
          'deployItems: [{name: i, type: x, config: {k: {{ getServiceAccountKubeconfig "robot" "ns" 600.0 .imports.t }}}}]',
        ),
      ],
    },
    self: stack({ imports: { targets: [{ name: 't', target: 't' }] } }),
    imports: importSet({ targets: { t: cluster } }),
    tools: { kubeconfigs: new IssuedKubeconfigs(issue) },
  });
  it('is issued, and the template runs again', async () => {
    const { items } = await inInit(given(() => Promise.resolve({ kubeconfig: 'a3ViZQ==' })));
    expect(items).to.have.deep.nested.property('[0].config', { k: 'a3ViZQ==' });
  });
  it('is retried by the job if the cluster is not available', async () => {
    const away: IssueKubeconfig = () => Promise.reject(new IssuerUnavailable('away'));
    const caught: unknown = await inInit(given(away)).catch((error: unknown) => error);
    expect(caught).to.be.instanceOf(PhaseError).and.to.include({ outcome: 'retry' });
    expect(caught).to.deep.nested.include({
      'problem.operation': 'handlePhaseInit',
      'problem.reason': 'ReconcileExecution',
    });
  });
});

describe('a loaded blueprint', () => {
  const load = (spec: object) => loadBlueprintOrFail(stack({ blueprint: spec }), undefined);
  it('is the one in the spec', async () => {
    const { info } = await load(inline({ imports: [data('x')] }));
    expect(info.imports).to.have.length(1);
  });
  it('ends the job if it is missing', async () => {
    const failure = await failureOf(load({ inline: { filesystem: { 'blueprint.yaml': '{' } } }));
    expect(failure).to.include({ operation: 'InitPrerequisites', reason: 'ResolveBlueprint' });
  });
  it('ends the job if there is no component that could contain it', async () => {
    const failure = await failureOf(load({ ref: { resourceName: 'bp' } }));
    expect(failure).to.include({ operation: 'InitPrerequisites', reason: 'ResolveBlueprint' });
  });
});
