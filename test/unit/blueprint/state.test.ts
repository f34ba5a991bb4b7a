import { expect } from 'chai';
import { readState, stateSecret, stateSecretName, stateSecretNames } from '../../../src/blueprint/state.ts';
import { blueprint, installation } from '../dataflow/given.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const go = (name?: string) => ({ ...(name === undefined ? {} : { name }), type: 'GoTemplate', template: '' });

describe('state between jobs', () => {
  it('is kept in secrets with the recorded names', () => {
    expect(stateSecretName('shop', 'deploy', 'default')).to.equal('3khtaqollckfx7vikdeaiytmltiekqvm');
    expect(stateSecretName('shop', 'export', 'default')).to.equal('hysl2pplkqqbpe5chdaiowe2d2r5pnkh');
    expect(stateSecretName('shop', 'deploy', '')).to.equal('q3u3kdl6wijiontj4j3dtijctmwe4lxo');
  });

  it('of deploy and sub-installation executions of one name is shared', () => {
    const loaded = blueprint({
      subinstallationExecutions: [go('default')],
      deployExecutions: [go('default'), go()],
      exportExecutions: [go('default')],
      importExecutions: [go('check')],
    });
    expect(stateSecretNames('shop', loaded)).to.deep.equal([
      '3khtaqollckfx7vikdeaiytmltiekqvm',
      'q3u3kdl6wijiontj4j3dtijctmwe4lxo',
      'hysl2pplkqqbpe5chdaiowe2d2r5pnkh',
    ]);
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

  it('is read as YAML, and is an empty map at first', () => {
    expect(readState({ data: { config: base64('count: 41\nother: kept\n') } })).to.deep.equal({
      count: 41,
      other: 'kept',
    });
    expect(readState({ data: {} })).to.deep.equal({});
    expect(readState({})).to.deep.equal({});
    expect(readState({ data: { config: '' } })).to.deep.equal({});
  });
});
