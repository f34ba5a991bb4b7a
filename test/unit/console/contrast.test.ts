/** The colours of the console: text is readable on each background on which it stands, in both colour schemes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const css = readFileSync(join(import.meta.dirname, '../../../web/console/console.css'), 'utf8');

/** WCAG 2.2, level AA, for text of normal size. */
const MIN_RATIO = 4.5;
/** The same, for what shows that an element is a button or a field. */
const MIN_RATIO_OF_BORDERS = 3;

const variablesIn = (block: string): ReadonlyMap<string, string> =>
  new Map(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [name, value]),
  );

const [light = '', dark = ''] = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, block]) => block);
const schemes = { light: variablesIn(light), dark: variablesIn(dark) };

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function ratio(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Text, and the backgrounds on which it stands. */
const uses: readonly (readonly [text: string, ...backgrounds: string[]])[] = [
  ['text', 'back', 'panel', 'active', 'grey-back', 'red-back', 'amber-back', 'green-back'],
  ['dim', 'back', 'panel', 'active', 'grey-back'],
  ['accent', 'back', 'panel', 'active', 'grey-back'],
  ['green', 'back', 'panel', 'active', 'grey-back', 'green-back'],
  ['red', 'back', 'panel', 'active', 'grey-back', 'red-back'],
  ['amber', 'back', 'panel', 'active', 'grey-back', 'amber-back'],
  // Buttons with a coloured background.
  ['panel', 'accent', 'red'],
];

describe('the colours of the console', () => {
  it('are defined for both schemes', () => {
    expect([...schemes.dark.keys()]).to.deep.equal([...schemes.light.keys()]);
    expect(schemes.light.size).to.equal(15);
  });

  it('are compared as WCAG says', () => {
    expect(ratio('#000000', '#ffffff')).to.be.closeTo(21, 0.01);
    expect(ratio('#777777', '#ffffff')).to.be.closeTo(4.48, 0.01);
  });

  for (const [scheme, colours] of Object.entries(schemes))
    for (const [text, ...backgrounds] of uses)
      it(`make ${text} readable in the ${scheme} scheme`, () => {
        for (const background of backgrounds) {
          const found = ratio(colours.get(text) ?? '', colours.get(background) ?? '');
          expect(found, `${text} on ${background}`).to.be.at.least(MIN_RATIO);
        }
      });

  for (const [scheme, colours] of Object.entries(schemes))
    it(`make the borders of buttons and fields visible in the ${scheme} scheme`, () => {
      for (const background of ['back', 'panel']) {
        const found = ratio(colours.get('control') ?? '', colours.get(background) ?? '');
        expect(found, background).to.be.at.least(MIN_RATIO_OF_BORDERS);
      }
    });
});
