import { expect } from 'chai';
import { inNamespace } from '../../../src/cli/composition/embedded.ts';
import { UsageError } from '../../../src/cli/errors.ts';
import { kubeconfigSource } from '../../../src/cli/kubeconfig.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';

const IN_POD = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };

describe('the cluster of a command', () => {
  it('is the one of the option, which takes precedence', () => {
    expect(kubeconfigSource({ kubeconfig: 'a' }, { KUBECONFIG: 'b', ...IN_POD })).to.deep.equal({
      file: 'a',
    });
  });
  it('is otherwise the one of KUBECONFIG, with the requested context', () => {
    expect(kubeconfigSource({ context: 'c' }, { KUBECONFIG: 'b', ...IN_POD })).to.deep.equal({
      file: 'b',
      context: 'c',
    });
  });
  it('is otherwise the one of the pod', () => {
    expect(kubeconfigSource({}, { KUBECONFIG: '', ...IN_POD })).to.equal('in-cluster');
  });
  it('is otherwise the one in the home directory, or an error', () => {
    const home = process.env['HOME'];
    process.env['HOME'] = '/nonexistent';
    try {
      expect(() => kubeconfigSource({}, {})).to.throw(UsageError, '--kubeconfig');
    } finally {
      if (home === undefined) delete process.env['HOME'];
      else process.env['HOME'] = home;
    }
  });
});

describe('a kubeconfig in another namespace', () => {
  const text = `
clusters: [{name: e, cluster: {server: https://x}}]
contexts: [{name: e, context: {cluster: e, user: e}}]
current-context: e
`;
  it('has it in its contexts and is otherwise unchanged', () => {
    expect(parseYaml(inNamespace(text, 'mine'))).to.deep.equal({
      clusters: [{ name: 'e', cluster: { server: 'https://x' } }],
      contexts: [{ name: 'e', context: { cluster: 'e', user: 'e', namespace: 'mine' } }],
      'current-context': 'e',
    });
  });
  it('is unchanged if none is given', () => {
    expect(inNamespace(text, undefined)).to.equal(text);
  });
});
