/** Converts random objects of each version to the other one and back. */
import { test } from 'node:test';
import { checkConversion } from 'espalier/operator-testing';
import { conversion, crd } from './kind.ts';

await test('no version loses a value', () => {
  checkConversion({ conversion, crd });
});
