/** What is said about a configuration file that cannot be used. */
import { expect } from 'chai';
import { InvalidSelector } from '../../../../deployers/sdk/responsible.ts';
import { readSettings, SettingsError } from '../../../../deployers/sdk/settings.ts';

function refusalOf(text: string): SettingsError {
  try {
    readSettings(text, 'deployer.yaml');
  } catch (error) {
    if (error instanceof SettingsError) return error;
    throw error;
  }
  throw new Error('the text was accepted');
}

describe('the configuration file of a deployer', () => {
  it('is refused as YAML with the reason of the parser', () => {
    const { name, message, cause } = refusalOf('a: [');
    expect([name, message.startsWith('deployer.yaml is not valid YAML: ')]).to.deep.equal([
      'SettingsError',
      true,
    ]);
    expect(cause).to.be.instanceOf(Error);
  });

  it('is refused for a selector that makes no sense, with its reason', () => {
    const { message, cause } = refusalOf('targetSelector: [{ labels: [{ key: a, operator: near }] }]');
    expect(cause).to.be.instanceOf(InvalidSelector).with.property('name', 'InvalidSelector');
    expect(message).to.equal(`deployer.yaml: ${(cause as Error).message}`);
  });

  const rows: readonly (readonly [string, RegExp])[] = [
    ['7', /^deployer\.yaml: : .*expected object/],
    ['identity: [a]', /^deployer\.yaml: identity: Invalid input/],
    ['readiness: later', /^deployer\.yaml: readiness: Invalid option/],
    ['controller: { workers: -1 }', /^deployer\.yaml: controller\.workers: Too small/],
    [
      'targetSelector: [{ targets: [{}] }]',
      /^deployer\.yaml: targetSelector\.0\.targets\.0\.name: .*expected string/,
    ],
  ];
  for (const [text, message] of rows) {
    it(`names the first field that is wrong: ${text}`, () => {
      expect(refusalOf(text).message).to.match(message);
    });
  }

  for (const readiness of ['kstatus', 'landscaper'])
    it(`may say when objects are ready: ${readiness}`, () => {
      const { settings } = readSettings(`readiness: ${readiness}`, 'deployer.yaml');
      expect(settings).to.deep.equal({ readiness });
    });

  describe('with keys that it cannot have', () => {
    const text = `
      indentity: a
      targetSelector: [{ annotations: [{ key: a, operator: exists, valeus: [b] }], label: [] }]`;
    const found = [
      'indentity is unknown and has no effect; did you mean identity?',
      'targetSelector[0].annotations[0].valeus is unknown and has no effect; did you mean targetSelector[0].annotations[0].values?',
      'targetSelector[0].label is unknown and has no effect; did you mean targetSelector[0].labels?',
    ];

    it('is accepted, and each of them is reported', () => {
      const notes: string[] = [];
      const { settings } = readSettings(text, 'deployer.yaml', { onNote: (note) => notes.push(note) });
      expect(settings.targetSelector).to.have.length(1);
      expect(notes).to.have.members(found);
    });

    it('is refused if the caller refuses them', () => {
      expect(() => readSettings(text, 'deployer.yaml', { refusesUnknown: true })).to.throw(
        SettingsError,
        'deployer.yaml: unknown key indentity; did you mean identity?',
      );
    });
  });

  it('may be empty, and may leave out everything', () => {
    for (const text of ['', '{}', 'targetSelector: null'])
      expect(readSettings(text, 'deployer.yaml')).to.deep.equal({ settings: {}, identity: undefined });
  });
});
