/** Finds resources and references by identity: the name and further attributes. */
import type { Reference, Resource } from './descriptor.ts';

export type Selector = Readonly<Record<string, string>>;

export const identityOf = ({ name, extraIdentity }: Resource | Reference): Selector => ({
  ...extraIdentity,
  name,
});

/** The elements whose identity contains all pairs, in order. */
export const select = <T extends Resource | Reference>(all: readonly T[], wanted: Selector): readonly T[] =>
  all.filter((one) => {
    const identity = identityOf(one);
    return Object.entries(wanted).every(
      ([key, value]) => Object.hasOwn(identity, key) && identity[key] === value,
    );
  });

/** `name=web, kind=chart` */
export const describeSelector = (selector: Selector): string =>
  Object.entries(selector)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
