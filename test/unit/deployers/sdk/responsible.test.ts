import { expect } from 'chai';
import type { DeployItem, Target } from '../../../../deployers/sdk/kinds.ts';
import {
  checkSelectors,
  InvalidSelector,
  isOfType,
  isSelected,
  targetNameOf,
  type Requirement,
} from '../../../../deployers/sdk/responsible.ts';
import { readSettings, SettingsError } from '../../../../deployers/sdk/settings.ts';
import type { View } from '../../../../src/runtime/types.ts';
import { LS } from '../bench.ts';

const target = {
  apiVersion: `${LS}/v1alpha1`,
  kind: 'Target',
  spec: { type: 't' },
  metadata: {
    name: 'a',
    namespace: 'proj',
    labels: { region: 'eu', size: '10' },
    annotations: { env: 'dev' },
  },
} as View<Target>;
const bare = { ...target, metadata: { name: 'a', namespace: 'proj' } } as View<Target>;

describe('the requirements of a target selector', () => {
  const rows: readonly (readonly [string, string, readonly string[], boolean, boolean])[] = [
    // Key, operator, values; whether a target with labels fulfils the requirement, and one without.
    ['region', '=', ['eu'], true, false],
    ['region', '=', ['us'], false, false],
    ['region', '==', ['eu'], true, false],
    ['region', '==', ['us'], false, false],
    ['region', 'in', ['us', 'eu'], true, false],
    ['region', 'in', ['us'], false, false],
    ['region', '!=', ['eu'], false, true],
    ['region', '!=', ['us'], true, true],
    ['region', 'notin', ['us', 'eu'], false, true],
    ['region', 'notin', ['us'], true, true],
    ['region', 'exists', [], true, false],
    ['region', '!', [], false, true],
    ['size', 'gt', ['9'], true, false],
    ['size', 'gt', ['10'], false, false],
    ['size', 'lt', ['11'], true, false],
    ['size', 'lt', ['10'], false, false],
    ['region', 'gt', ['1'], false, false],
    ['region', 'lt', ['1'], false, false],
  ];
  for (const [key, operator, values, withLabels, without] of rows) {
    it(`${key} ${operator} ${values.join(' ')}`, () => {
      const labels: readonly Requirement[] = [{ key, operator, values }];
      expect([isSelected([{ labels }], target), isSelected([{ labels }], bare)]).to.deep.equal([
        withLabels,
        without,
      ]);
    });
  }

  it('may be on annotations as well, and all must hold', () => {
    const [yes, no] = [
      { key: 'env', operator: 'exists' },
      { key: 'gone', operator: 'exists' },
    ];
    const region = { key: 'region', operator: 'exists' };
    expect(isSelected([{ annotations: [yes] }], target)).to.equal(true);
    expect(isSelected([{ annotations: [yes, no] }], target)).to.equal(false);
    expect(isSelected([{ annotations: [yes], labels: [region] }], target)).to.equal(true);
    expect(isSelected([{ annotations: [no], labels: [region] }], target)).to.equal(false);
    expect(isSelected([{ annotations: [region] }], target), 'labels are no annotations').to.equal(false);
    expect(isSelected([{ annotations: [no] }, { labels: [region] }], target)).to.equal(true);
  });

  it('are rejected by name if an operator is invalid', () => {
    const labels = [{ key: 'a', operator: '~' }];
    expect(() => isSelected([{ labels }], target)).to.throw(InvalidSelector, '"~" is not an operator');
  });

  const named: readonly (readonly [string, readonly { name: string; namespace?: string }[], boolean])[] = [
    ['no target', [], true],
    ['its name', [{ name: 'a' }], true],
    ['its name and namespace', [{ name: 'a', namespace: 'proj' }], true],
    ['its name in no namespace', [{ name: 'a', namespace: '' }], true],
    ['its name in another namespace', [{ name: 'a', namespace: 'other' }], false],
    ['another name', [{ name: 'b', namespace: 'proj' }], false],
    ['two names', [{ name: 'b' }, { name: 'a' }], true],
  ];
  for (const [title, targets, expected] of named) {
    it(`${expected ? 'select' : 'do not select'} a target by ${title}`, () => {
      expect(isSelected([{ targets }], target)).to.equal(expected);
    });
  }

  it('select everything if there are none', () => {
    for (const selectors of [undefined, [], [{}]]) expect(isSelected(selectors, target)).to.equal(true);
  });
});

describe('target selectors of a configuration', () => {
  const good: readonly Requirement[] = [
    ...['=', '==', '!=', 'in', 'notin'].map((operator) => ({ key: 'a', operator, values: ['x'] })),
    ...['in', 'notin'].map((operator) => ({ key: 'a', operator, values: ['x', 'y', ''] })),
    ...['exists', '!'].map((operator) => ({ key: 'a', operator })),
    ...['gt', 'lt'].map((operator) => ({ key: 'a', operator, values: ['12'] })),
    { key: 'example.org/a.b_c-d', operator: 'exists' },
    { key: `a${'x'.repeat(61)}z`, operator: '=', values: [`a${'x'.repeat(61)}z`] },
  ];
  for (const requirement of good) {
    it(`may be ${requirement.key} ${requirement.operator} ${requirement.values?.join(' ') ?? ''}`, () => {
      checkSelectors([{ labels: [requirement] }, { annotations: [requirement] }]);
    });
  }

  const bad: readonly (readonly [Requirement, string])[] = [
    [{ key: 'a', operator: '~' }, '"~" is not an operator'],
    ...['', '-a', 'a-', 'A/b', '/b', 'a//b', 'a b', 'x'.repeat(64)].map(
      (key) => [{ key, operator: 'exists' }, 'the key is not a valid label key'] as const,
    ),
    ...['=', '==', '!=', 'gt', 'lt'].flatMap((operator) => [
      [{ key: 'a', operator }, `operator "${operator}" does not accept 0 values`] as const,
      [
        { key: 'a', operator, values: ['1', '2'] },
        `operator "${operator}" does not accept 2 values`,
      ] as const,
    ]),
    ...['in', 'notin'].map(
      (operator) =>
        [{ key: 'a', operator, values: [] }, `operator "${operator}" does not accept 0 values`] as const,
    ),
    ...['exists', '!'].map(
      (operator) =>
        [{ key: 'a', operator, values: ['x'] }, `operator "${operator}" does not accept 1 values`] as const,
    ),
    ...['-a', 'a-', 'a b', 'x'.repeat(64)].map(
      (value) =>
        [
          { key: 'a', operator: 'in', values: ['ok', value] },
          `"${value}" is not a valid label value`,
        ] as const,
    ),
    ...['gt', 'lt'].map(
      (operator) =>
        [{ key: 'a', operator, values: ['x1'] }, `operator "${operator}" needs an integer`] as const,
    ),
  ];
  for (const [requirement, message] of bad) {
    it(`must not be ${JSON.stringify(requirement)}`, () => {
      const expected = `target selector requirement on "${requirement.key}": ${message}`;
      for (const where of ['labels', 'annotations'])
        expect(() => {
          checkSelectors([{}, { [where]: [requirement] }]);
        }).to.throw(InvalidSelector, expected);
    });
  }
});

describe('the type and the target of an item', () => {
  const item = (annotations: object | undefined, name?: string): View<DeployItem> =>
    ({
      metadata: { name: 'web', ...(annotations && { annotations }) },
      spec: { type: 'a/b', ...(name !== undefined && { target: { name } }) },
    }) as unknown as View<DeployItem>;
  const [type, noted] = [`${LS}/deployer-type`, `${LS}/deployer-target-name`];

  it('are those of its annotations, or otherwise of its spec', () => {
    expect([isOfType(item(undefined), 'a/b'), isOfType(item({}), 'c/d')]).to.deep.equal([true, false]);
    const annotated = item({ [type]: 'c/d' });
    expect([isOfType(annotated, 'a/b'), isOfType(annotated, 'c/d')]).to.deep.equal([false, true]);
  });

  const names: readonly (readonly [string, View<DeployItem>, string | undefined])[] = [
    ['its spec', item(undefined, 'one'), 'one'],
    ['its spec, whatever its annotations', item({ [type]: 'a/b', [noted]: 'two' }, 'one'), 'one'],
    ['its annotation', item({ [type]: 'a/b', [noted]: 'two' }), 'two'],
    ['not an annotation of another client', item({ [noted]: 'two' }), undefined],
    ['the word for none', item({ [type]: 'a/b', [noted]: '.noTargetName' }), undefined],
    ['an empty name', item(undefined, ''), undefined],
    ['nothing', item(undefined), undefined],
  ];
  for (const [title, given, expected] of names) {
    it(`the target is read from ${title}`, () => {
      expect(targetNameOf(given)).to.equal(expected);
    });
  }
});

describe('the configuration file of a deployer', () => {
  const settingsIn = (text: string) => readSettings(text, 'config.yaml');

  it('may be empty, and unknown keys have no effect', () => {
    for (const text of ['', '{}', 'kind: Configuration\nexport: {}\nidentity: null\nhpa: { max: 3 }'])
      expect(settingsIn(text)).to.deep.equal({ settings: {}, identity: undefined });
  });

  it('is read with all its keys', () => {
    const text = JSON.stringify({
      kind: 'Configuration',
      identity: 'me',
      claimUntargeted: false,
      targetSelector: [
        { targets: [{ name: 'a', namespace: 'b' }], labels: [{ key: 'k', operator: 'exists' }] },
      ],
      continuousReconcile: { enabled: false },
      controller: { workers: 7 },
    });
    expect(settingsIn(text)).to.deep.equal({
      identity: 'me',
      settings: {
        claimUntargeted: false,
        workers: 7,
        continuousReconcile: { enabled: false },
        targetSelector: [
          { targets: [{ name: 'a', namespace: 'b' }], labels: [{ key: 'k', operator: 'exists' }] },
        ],
      },
    });
    expect(settingsIn('continuousReconcile: {}\ncontroller: {}').settings).to.deep.equal({});
  });

  for (const [text, message] of [
    ['a: [', 'config.yaml is not valid YAML: '],
    ['kind: Other', 'config.yaml: kind: '],
    ['identity: 7', 'config.yaml: identity: '],
    ['controller: { workers: -1 }', 'config.yaml: controller.workers: '],
    ['targetSelector: [{ labels: [{ key: a }] }]', 'config.yaml: targetSelector.0.labels.0.operator: '],
    [
      'targetSelector: [{ labels: [{ key: a, operator: "~" }] }]',
      'config.yaml: target selector requirement on "a": "~" is not an operator',
    ],
  ] as const) {
    it(`is rejected with the path of the error: ${text}`, () => {
      expect(() => settingsIn(text)).to.throw(SettingsError, message);
    });
  }
});
