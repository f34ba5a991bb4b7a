import { expect } from 'chai';
import { manifestConfig } from '../../../../deployers/manifest/config.ts';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { Bench, configMap, manage, manifestConfig as document } from '../bench.ts';
import { describeSchema, export_, head, manifest, whole } from '../whole-configurations.ts';

for (const title of ['container', 'mock']) describeSchema(title);

it('many unknown fields are all found, and the first ones compared with known fields', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`manifest${String(i)}`, 1]));
  const found = manifestConfig.unread?.({ ...head('manifest', 'v1alpha2'), ...many }) ?? [];
  expect(found).to.have.lengthOf(100);
  expect(found.filter((one) => one.includes('did you mean manifests?'))).to.have.lengthOf(20);
  expect(found[99]).to.equal('manifest99 is not a known field');
});

describe('unknown fields of configurations', () => {
  const slips: readonly (readonly [string, object, string])[] = [
    ['manifest', { manifest: [] }, 'manifest is not a known field; did you mean manifests?'],
    [
      'manifest',
      { manifests: [manifest, { polcy: 'keep', manifest: {} }] },
      'manifests[1].polcy is not a known field; did you mean policy?',
    ],
    [
      'manifest',
      { exports: { exports: [{ ...export_, timeout: '1m' }] } },
      'exports.exports[0].timeout is not a known field; known fields are key, jsonPath, targetName, fromResource, fromObjectRef',
    ],
    [
      'manifest',
      { deletionGroups: [{ forceDelete: true, customResourceGroup: {} }] },
      'deletionGroups[0].forceDelete is not a known field; known fields are predefinedResourceGroup, customResourceGroup',
    ],
    [
      'helm',
      { chart: { archive: { remote: { uri: 'x' } } } },
      'chart.archive.remote.uri is not a known field; did you mean url?',
    ],
    [
      'container',
      { registryPullSecrets: [{ nam: 'x' }] },
      'registryPullSecrets[0].nam is not a known field; did you mean name?',
    ],
    ['mock', { exports: {} }, 'exports is not a known field; did you mean export?'],
  ];
  for (const [deployer, more, sentence] of slips)
    it(`are reported with their path: ${sentence}`, () => {
      const [codec, given] = whole[deployer] ?? [];
      expect(codec?.unread?.({ ...given, ...more })).to.deep.equal([sentence]);
    });

  for (const odd of [undefined, null, 'text', [], {}, { apiVersion: 'toString' }, { apiVersion: 7 }])
    it(`are not searched in something that is not a configuration: ${JSON.stringify(odd)}`, () => {
      expect(manifestConfig.unread?.(odd)).to.deep.equal([]);
    });

  it('are reported by an event, once for each generation', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    const sloppy = { ...document({ manifests: [manage(configMap('a'))] }), updateStratgy: 'merge' };
    const warnings = (): readonly string[] => b.events.filter((each) => each.includes('UnreadFields'));
    b.giveItem(sloppy);
    await b.kick('j1');
    await b.kick('j2');
    expect(b.status().phase).to.equal('Succeeded');
    expect(warnings()).to.deep.equal([
      'Warning UnreadFields: in the configuration: updateStratgy is not a known field; did you mean updateStrategy?',
    ]);
    b.configure({ ...sloppy, manifest: [] });
    await b.kick('j3');
    expect(warnings()).to.have.length(2);
    b.configure(document({ manifests: [manage(configMap('a'))] }));
    await b.kick('j4');
    expect(warnings()).to.have.length(2);
  });

  const conditions = (b: Bench) =>
    (b.status().conditions ?? [])
      .filter(({ type }) => type === 'ValidateConfiguration')
      .map(({ type, status, reason, message }) => [type, status, reason, message]);
  const sloppy = { ...document({ manifests: [manage(configMap('a'))] }), updateStratgy: 'merge' };
  const condition = [
    'ValidateConfiguration',
    'False',
    'UnknownFields',
    'in the configuration: updateStratgy is not a known field; did you mean updateStrategy?',
  ];

  it('are a condition until the configuration has none', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    b.giveItem(sloppy);
    await b.kick('j1');
    expect(conditions(b)).to.deep.equal([condition]);
    await b.kick('j2');
    expect(conditions(b)).to.deep.equal([condition]);
    b.configure({ ...sloppy, updateStratgy: null });
    await b.kick('j3');
    expect(conditions(b)).to.deep.equal([]);
  });

  it('fail the job of a strict deployer before it applies anything', async () => {
    const b = new Bench(manifestDeployer(), { config: { strict: true } });
    b.givenTarget();
    b.giveItem(sloppy);
    await b.kick('j1');
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().jobIDFinished).to.equal('j1');
    expect(b.status().lastError).to.include({
      operation: 'InitManifestOperation',
      reason: 'ParseProviderConfiguration',
      message:
        'the configuration has unknown fields, which strict: true refuses; in the configuration: updateStratgy is not a known field; did you mean updateStrategy?',
    });
    expect(b.status().lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
    expect(conditions(b)).to.deep.equal([condition]);
    expect(b.target.names('ConfigMap')).to.deep.equal([]);
  });

  it('are part of the message about a configuration that cannot be read', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    b.giveItem({ ...sloppy, updateStrategy: 'mrege' });
    await b.kick('j1');
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError?.message).to.match(
      /mrege.*; updateStratgy is not a known field; did you mean updateStrategy\?$/,
    );
  });

  it('do not keep a strict deployer from uninstalling', async () => {
    const b = new Bench(manifestDeployer(), { config: { strict: true } });
    b.givenTarget();
    b.giveItem(document({ manifests: [manage(configMap('a'))] }));
    await b.kick('j1');
    expect(b.status().phase).to.equal('Succeeded');
    b.configure(sloppy);
    await b.delete();
    await b.kick('j2');
    expect(b.target.names('ConfigMap')).to.deep.equal([]);
  });
});
