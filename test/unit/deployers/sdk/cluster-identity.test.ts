/** Which cluster a connection leads to, and when that is unknown. */
import { expect } from 'chai';
import { clusterOf, publicAddress } from '../../../../deployers/sdk/cluster-identity.ts';
import { DeployerError } from '../../../../deployers/sdk/errors.ts';
import { TransportError } from '../../../../src/runtime/errors.ts';
import { answer } from '../applying.ts';
import { NamedCluster } from '../clusters.ts';

const signal = new AbortController().signal;
const ask = (cluster: NamedCluster, now = 0) => clusterOf(cluster, { target: 'prod', now, signal });
const failing = (error: Error): NamedCluster => {
  const cluster = new NamedCluster('a', 'uid-a');
  cluster.fail = () => {
    throw error;
  };
  return cluster;
};

describe('the cluster of a connection', () => {
  it('is the uid of kube-system, and the address of the server', async () => {
    expect(await ask(new NamedCluster('a', 'uid-a'))).to.deep.equal({
      uid: 'uid-a',
      server: 'https://a.invalid',
    });
  });

  it('is read again after half a minute', async () => {
    const cluster = new NamedCluster('a', 'uid-a');
    await ask(cluster);
    cluster.drop('Namespace', 'kube-system');
    cluster.identify('uid-new');
    expect((await ask(cluster, 30_000)).uid).to.equal('uid-a');
    expect(cluster.takeRequests()).to.have.length(1);
    expect((await ask(cluster, 30_001)).uid).to.equal('uid-new');
  });

  for (const status of [400, 403, 404, 405])
    it(`is unknown if the server answers with ${String(status)}`, async () => {
      expect(await ask(failing(answer(status)))).to.deep.equal({ server: 'https://a.invalid' });
    });

  for (const uid of ['', 'x'.repeat(65), 'a b', 5, {}])
    it(`is unknown if the uid is ${JSON.stringify(uid).slice(0, 12)}`, async () => {
      expect((await ask(new NamedCluster('a', uid as string))).uid).to.equal(undefined);
    });

  for (const [title, error] of [
    ['an overloaded server', answer(429)],
    ['a server that fails', answer(503)],
    ['a server that is slow', answer(408)],
    ['rejected credentials', answer(401)],
    ['a broken connection', new TransportError({ message: 'reset', method: 'GET', path: '/' } as never)],
  ] as const)
    it(`cannot be read because of ${title}, which is not remembered`, async () => {
      const cluster = failing(error);
      const thrown: unknown = await ask(cluster).catch((one: unknown) => one);
      expect(thrown).to.be.instanceOf(DeployerError);
      expect((thrown as Error).message).to.contain('cannot find out to which cluster target prod leads: ');
      if (title === 'rejected credentials')
        expect((thrown as DeployerError).codes).to.contain('ERR_UNAUTHORIZED');
      cluster.fail = () => undefined;
      expect((await ask(cluster)).uid).to.equal('uid-a');
    });
});

describe('the address of a server in a status', () => {
  for (const [server, shown] of [
    ['https://user:secret@a.example:6443/', 'https://a.example:6443'],
    ['https://a.example/k8s/clusters/c', 'https://a.example/k8s/clusters/c'],
    ['https://a.example/?token=secret', 'https://a.example'],
    ['not an address', undefined],
    ['data:text/plain,x', undefined],
    [`https://${'a'.repeat(300)}/`, undefined],
  ] as const)
    it(`is ${shown ?? 'absent'} for ${server.slice(0, 40)}`, () => {
      expect(publicAddress(server)).to.equal(shown);
    });
});
