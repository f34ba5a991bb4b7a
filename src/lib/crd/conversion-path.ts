/** The path at which an operator converts the versions of a kind. */
export const conversionPath = ({
  plural,
  group,
}: {
  readonly plural: string;
  readonly group: string;
}): string => `/convert/${plural}.${group}`;
