import { expect } from 'chai';
import {
  readState,
  States,
  stateSecret,
  stateSecretName,
  stateSecretNames,
} from '../../../src/blueprint/state.ts';
import { ContentNeeded } from '../../../src/components/errors.ts';
import { blueprint, installation } from '../dataflow/given.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const go = (name?: string, template = 'state: {}') => ({
  ...(name === undefined ? {} : { name }),
  type: 'GoTemplate',
  template,
});

describe('state between jobs', () => {
  it('is stored in secrets with the recorded names', () => {
    expect(stateSecretName('shop', 'deploy', 'default')).to.equal('3khtaqollckfx7vikdeaiytmltiekqvm');
    expect(stateSecretName('shop', 'export', 'default')).to.equal('hysl2pplkqqbpe5chdaiowe2d2r5pnkh');
    expect(stateSecretName('shop', 'deploy', '')).to.equal('q3u3kdl6wijiontj4j3dtijctmwe4lxo');
  });

  it('of deploy and sub-installation executions of the same name is shared', () => {
    const loaded = blueprint({
      subinstallationExecutions: [go('default')],
      deployExecutions: [go('default'), go()],
      exportExecutions: [go('default')],
      importExecutions: [go('check')],
    });
    expect(stateSecretNames('shop', loaded, 'deploy')).to.deep.equal([
      '3khtaqollckfx7vikdeaiytmltiekqvm',
      'q3u3kdl6wijiontj4j3dtijctmwe4lxo',
    ]);
    expect(stateSecretNames('shop', loaded, 'export')).to.deep.equal(['hysl2pplkqqbpe5chdaiowe2d2r5pnkh']);
  });

  const templates: readonly [string, object, boolean][] = [
    ['that reads it', go('d', 'a: {{ .state.count }}'), true],
    ['that only writes it', go('d', 'STATE: {a: 1}'), true],
    ['that reads all values', go('d', '{{ toYaml . }}'), true],
    ['that reads all values through $', go('d', '{{ range $k, $v := $ }}{{ end }}'), true],
    ['that includes a file', go('d', '{{ include "/a.yaml" . }}'), true],
    ['in a file', { name: 'd', type: 'GoTemplate', file: '/with-state.yaml' }, true],
    [
      'without content',
      go('d', 'deployItems: [{name: a.b, v: {{ .imports.a | quote }}}] # costs $5.'),
      false,
    ],
    ['of Spiff', { name: 'd', type: 'Spiff', template: {} }, true],
  ];
  for (const [title, execution, isRead] of templates) {
    it(`is ${isRead ? '' : 'not '}loaded for a template ${title}`, () => {
      const loaded = blueprint({ deployExecutions: [execution] }, { 'with-state.yaml': '{{ .state }}' });
      expect(stateSecretNames('shop', loaded, 'deploy')).to.have.lengthOf(isRead ? 1 : 0);
    });
  }

  it('is found unchanged if an execution is repeated', async () => {
    const states = new States(new Map([['x', { n: 1 }]]));
    const work = (): never => {
      states.note({ secretName: 'x', state: { n: 2 } });
      throw new ContentNeeded('blob');
    };
    await states.attempt(work).catch(() => undefined);
    expect(states.get('x')).to.deep.equal({ n: 1 });
    expect(states.updates).to.deep.equal([]);
  });

  it('of Spiff is written as YAML', () => {
    const { data } = stateSecret(installation('shop'), {
      secretName: 'x',
      state: { pw: 'gen', count: 1 },
      format: 'yaml',
    });
    expect(Buffer.from(data['config'] ?? '', 'base64').toString()).to.equal('count: 1\npw: gen\n');
  });

  it('is written as compact JSON, owned by the installation', () => {
    const state = { texts: ['t1'], count: 1 };
    expect(stateSecret(installation('shop'), { secretName: 'x', state })).to.deep.equal({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'x',
        namespace: 'demo',
        ownerReferences: [
          {
            apiVersion: 'landscaper.gardener.cloud/v1alpha1',
            kind: 'Installation',
            name: 'shop',
            uid: 'uid-shop',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      type: 'Opaque',
      data: { config: 'eyJjb3VudCI6MSwidGV4dHMiOlsidDEiXX0=' },
    });
  });

  it('is read as YAML, and is an empty map at first', async () => {
    expect(await readState({ data: { config: base64('count: 41\nother: kept\n') } })).to.deep.equal({
      count: 41,
      other: 'kept',
    });
    expect(await readState({ data: {} })).to.deep.equal({});
    expect(await readState({})).to.deep.equal({});
    expect(await readState({ data: { config: '' } })).to.deep.equal({});
  });
});
