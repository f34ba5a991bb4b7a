/** Limits for the YAML of a blueprint that the thread of the controllers reads: about one second. */

/**
 * Characters of `blueprint.yaml`, and of all files of installation templates together. An object in a cluster has
 * fewer.
 */
export const MAX_READ_HERE = 2 * 2 ** 20;

export const READ_HERE_RULE = `more than ${String(MAX_READ_HERE)}, a fixed limit; divide the blueprint into sub-installations`;
