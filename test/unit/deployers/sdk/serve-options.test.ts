/** The arguments of a deployer. Errors in them are in serve.test.ts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readServeOptions, WrongOptions } from '../../../../deployers/sdk/serve-options.ts';

const nowhere = () => undefined;
const given = (...args: string[]) => readServeOptions(['--kubeconfig', 'k', ...args], nowhere);

describe('the arguments of a deployer', () => {
  it('only require a cluster', () => {
    expect(given()).to.deep.equal({ kubeconfig: { file: 'k' }, level: 'info' });
  });
  it('may name the cluster as upstream does', () => {
    const { kubeconfig } = readServeOptions(['--landscaper-kubeconfig', 'l'], nowhere) as {
      kubeconfig: unknown;
    };
    expect(kubeconfig).to.deep.equal({ file: 'l' });
  });
  it('use the cluster of the environment if they name none', () => {
    expect(readServeOptions([], () => 'in-cluster')).to.deep.equal({
      kubeconfig: 'in-cluster',
      level: 'info',
    });
  });
  it('are rejected if there is no cluster at all', () => {
    expect(() => readServeOptions([], nowhere)).to.throw(
      WrongOptions,
      /^no cluster given; set --kubeconfig or KUBECONFIG$/,
    );
  });
  it('may only request the help page', () => {
    expect(readServeOptions(['--help', '--lease', 'wrong'], nowhere)).to.equal('help');
  });
  it('may name a lease and a level', () => {
    expect(given('--lease', 'ns/name', '--log-level', 'debug')).to.deep.equal({
      kubeconfig: { file: 'k' },
      level: 'debug',
      lease: { namespace: 'ns', name: 'name' },
    });
  });
  for (const [address, host, port] of [
    ['127.0.0.1:8080', '127.0.0.1', 8080],
    ['localhost:1', 'localhost', 1],
    [':65535', '0.0.0.0', 65535],
    ['[::1]:80', '::1', 80],
  ] as const) {
    it(`serve metrics at ${address}`, () => {
      expect(given('--metrics-address', address)).to.deep.include({ metricsAddress: { host, port } });
    });
  }
  for (const address of ['8080', 'a:', 'a:123456', 'a:80b', 'a:80:']) {
    it(`serve no metrics at ${address}`, () => {
      expect(() => given('--metrics-address', address)).to.throw(
        `--metrics-address ${address} is not host:port`,
      );
    });
  }
  it('are rejected with an invalid log level, and the message lists the valid ones', () => {
    expect(() => given('--log-level', 'loud')).to.throw(
      '--log-level loud is not a valid level; use one of trace, debug, info, warn, error',
    );
  });

  describe('with a configuration', () => {
    let file = '';
    before(() => {
      file = join(mkdtempSync(join(tmpdir(), 'espalier-serve-')), 'config.yaml');
    });
    after(() => {
      rmSync(join(file, '..'), { recursive: true });
    });
    it('use its settings and its identity', () => {
      writeFileSync(file, 'identity: me\nclaimUntargeted: true');
      expect(given('--config', file)).to.deep.equal({
        kubeconfig: { file: 'k' },
        level: 'info',
        settings: { claimUntargeted: true },
        identity: 'me',
      });
    });
    it('use no identity if it has none', () => {
      writeFileSync(file, 'claimUntargeted: false');
      expect(given('--config', file))
        .to.have.property('settings')
        .that.deep.equals({ claimUntargeted: false });
      expect(given('--config', file)).not.to.have.property('identity');
    });
  });
});
