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

  it('may be empty, and may leave out everything', () => {
    for (const text of ['', '{}', 'targetSelector: null'])
      expect(readSettings(text, 'deployer.yaml')).to.deep.equal({ settings: {}, identity: undefined });
  });
});
