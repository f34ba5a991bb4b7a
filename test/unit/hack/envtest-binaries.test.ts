import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ensureBinaries, EnvtestUnavailable, findBinaries } from '../../../hack/envtest/binaries.ts';
import { cacheFolder } from '../../../hack/envtest/versions.ts';

describe('the binaries of a real control plane', () => {
  const names = ['KUBEBUILDER_ASSETS', 'XDG_CACHE_HOME', 'PATH'];
  const saved = new Map(names.map((name) => [name, process.env[name]]));
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-binaries-'));
    process.env['XDG_CACHE_HOME'] = folder;
    process.env['PATH'] = folder;
    delete process.env['KUBEBUILDER_ASSETS'];
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
    for (const [name, value] of saved) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  const put = (path: string): string => {
    mkdirSync(path, { recursive: true });
    for (const name of ['etcd', 'kube-apiserver']) {
      writeFileSync(join(path, name), '');
      chmodSync(join(path, name), 0o755);
    }
    return path;
  };

  it('come from KUBEBUILDER_ASSETS', () => {
    const assets = put(join(folder, 'assets'));
    process.env['KUBEBUILDER_ASSETS'] = assets;
    expect(findBinaries()).to.deep.equal({
      apiserver: join(assets, 'kube-apiserver'),
      etcd: join(assets, 'etcd'),
    });
  });

  it('are missed by name where KUBEBUILDER_ASSETS does not hold them', () => {
    const assets = put(join(folder, 'assets'));
    rmSync(join(assets, 'etcd'));
    process.env['KUBEBUILDER_ASSETS'] = assets;
    expect(findBinaries).to.throw(EnvtestUnavailable, join(assets, 'etcd'));
  });

  it('come from the cache once they are built', () => {
    expect(findBinaries()).to.equal(undefined);
    const cached = put(cacheFolder());
    expect(cached.startsWith(folder)).to.equal(true);
    expect(ensureBinaries()).to.deep.equal({
      apiserver: join(cached, 'kube-apiserver'),
      etcd: join(cached, 'etcd'),
    });
  });

  it('cannot be had without Go, and the message says so', () => {
    expect(() => ensureBinaries()).to.throw(EnvtestUnavailable, /KUBEBUILDER_ASSETS.*go on the PATH/);
  });
});
