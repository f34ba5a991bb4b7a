/** The values for generated templates, and expressions that print them. */
import { words } from '../random-parts.ts';

export const VALUES = {
  name: 'web',
  num: 3,
  big: 300,
  f: 0.1,
  zero: 0,
  neg: -2.5,
  e: '',
  nul: null,
  yes: true,
  s: '007',
  l: ['one', 'two'],
  nums: [1, 2, 3],
  m: { b: 2, a: 1 },
  deep: { x: null, y: { z: 'end' } },
  objs: [{ name: 'p' }, { name: 'q' }],
  uni: 'Grüße, 世界 🌍',
  lines: 'first\nsecond\n\nlast\n',
  mixed: [1, 'a', null, true, [2], { k: 1 }],
};

/** Expressions to print. */
export const PRINTED = words(
  '1 ~ -42 ~ 255 ~ 0 ~ 3.14159 ~ 1e21 ~ 1e-7 ~ .f ~ .neg ~ .name ~ "q\\"uo" ~ .l ~ .m ~ .nul ~ .nums ~ true ~ nil ~ .lines ~ (list 1 "a" nil) ~ (int64 7) ~ 0.5 ~ 2.5 ~ 123456 ~ 9223372036854775807 ~ (until 3) ~ (splitList "," "a,b") ~ (b64dec "/w==") ~ (dict)',
);
