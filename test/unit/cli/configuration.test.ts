import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { defaults, readConfiguration, type Configuration } from '../../../src/cli/configuration.ts';

describe('the configuration file', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-configuration-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const read = (text: string): Configuration => {
    const file = join(folder, 'config.yaml');
    writeFileSync(file, text);
    return readConfiguration(file);
  };

  it('means the defaults when it is empty; then nobody checks deployments', () => {
    expect(read('')).to.deep.equal(defaults);
    expect(read('')).not.to.have.property('health');
  });

  it('names the deployments whose health is checked, each once', () => {
    const { health } = read(`
      kind: LandscaperConfiguration
      lsDeployments:
        lsController: controller
        lsMainController: main
        webHook: webhook
        deploymentsNamespace: ls-system
        lsHealthCheckName: landscaper
        additionalDeployments: {deployments: [deployer, main]}
    `);
    expect(health).to.deep.equal({
      namespace: 'ls-system',
      name: 'landscaper',
      deployments: ['controller', 'main', 'webhook', 'deployer'],
    });
  });

  it('says which part of the health check is missing', () => {
    expect(() => read('lsDeployments: {lsController: controller, lsHealthCheckName: x}')).to.throw(
      /lsDeployments.deploymentsNamespace/,
    );
  });

  it('takes the key of the excluded namespaces in both spellings that are in use', () => {
    const texts = [
      'controllers: {contexts: {config: {default: {excludedNamespaces: [a]}}}}',
      'controllers: {contexts: {config: {default: {excludeNamespaces: [a]}}}}',
      'controllers: {context: {config: {default: {excludeNamespaces: [a]}}}}',
    ];
    for (const text of texts) expect(read(text).contexts).to.deep.equal({ excludedNamespaces: ['a'] });
  });

  it('takes the workers of contexts in both spellings too', () => {
    expect(read('controllers: {context: {workers: 7}}').workers.context).to.equal(7);
    expect(read('controllers: {contexts: {workers: 8}, context: {workers: 7}}').workers.context).to.equal(8);
  });
});
