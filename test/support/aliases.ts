/** A text of 8 kB whose aliases stand for 4,000 × `times` values, which go-yaml accepts up to 98 times. */
export const aliased = (times = 98): string =>
  `a: &a [${Array(4000).fill('x').join(',')}]\nb: [${Array(times).fill('*a').join(',')}]`;
