import { expect } from 'chai';
import { helmConfig } from '../../../../deployers/helm/config.ts';
import { helmConfig as document } from '../bench.ts';

const chart = { archive: { raw: 'AA==' } };
const decode = (fields: object) => helmConfig.decode(document({ chart, ...fields }));

describe('the configuration of a chart', () => {
  it('creates a release by default', () => {
    expect(decode({ helmDeployment: undefined }).isRelease).to.equal(true);
    expect(decode({}).isRelease).to.equal(false);
  });

  const sources: readonly (readonly [string, object, string])[] = [
    ['an archive', { archive: { raw: 'AA==' }, ref: 'a/b:1' }, 'raw'],
    ['a URL', { archive: { remote: { url: 'https://a.example/c.tgz' } }, ref: 'a/b:1' }, 'remote'],
    ['a reference', { ref: 'oci://a.example/b:1', resourceRef: 'x' }, 'ref'],
    [
      'a repository',
      { helmChartRepo: { helmChartRepoUrl: 'https://a', helmChartName: 'b', helmChartVersion: '1' } },
      'repo',
    ],
    ['a resource', { resourceRef: 'eA==' }, 'resource'],
  ];
  for (const [what, source, kind] of sources) {
    it(`accepts ${what}`, () => {
      expect(decode({ chart: source }).chart.kind).to.equal(kind);
    });
  }

  const mistakes: readonly (readonly [string, object, string])[] = [
    ['no name', { name: undefined }, 'name: Required value: must not be empty'],
    ['no namespace', { namespace: '' }, 'namespace: Required value'],
    ['values that are not a map', { values: 'msg: yo' }, 'values: expected an object'],
    ['an unknown strategy', { updateStrategy: 'replace' }, 'replace is not a valid update strategy'],
    ['an invalid URL', { chart: { archive: { remote: { url: 'file:///etc/passwd' } } } }, 'http or https'],
    [
      'an unknown option',
      { helmDeploymentConfig: { install: { atomicc: true } } },
      'helmDeploymentConfig.install: Unsupported value: "atomicc": supported values: "atomic", "force"',
    ],
    [
      'an invalid timeout',
      { helmDeploymentConfig: { upgrade: { timeout: 'soon' } } },
      'helmDeploymentConfig.upgrade.timeout: expected a duration',
    ],
    [
      'an option of another action',
      { helmDeploymentConfig: { uninstall: { atomic: true } } },
      'supported values: "timeout", "wait"',
    ],
    [
      'a duplicate export',
      {
        exports: { exports: [{ key: 'a', jsonPath: '.Values.a' }] },
        exportsFromManifests: [{ key: 'a', jsonPath: '.data.a' }],
      },
      'Duplicate value: "a"',
    ],
    [
      'a deprecated export without namespace',
      {
        exportsFromManifests: [
          { key: 'a', jsonPath: '.a', fromResource: { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' } },
        ],
      },
      'fromResource.namespace: Required value',
    ],
  ];
  for (const [what, fields, message] of mistakes) {
    it(`DEP-61: rejects ${what}`, () => {
      expect(() => decode(fields)).to.throw(message);
    });
  }

  it('accepts a timeout as a string and in nanoseconds, and atomic includes wait', () => {
    const { install, upgrade } = decode({
      helmDeploymentConfig: { install: { timeout: '90s', atomic: true }, upgrade: { timeout: 2e9 } },
    });
    expect(install).to.include({ timeoutMs: 90_000, atomic: true, wait: true });
    expect(upgrade).to.include({ timeoutMs: 2000, wait: false });
  });
});
