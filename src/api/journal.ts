/** Settings of the journal, which records the jobs of roots. */
export interface JournalSettings {
  /** Maximum number of records of one root; the next record replaces the oldest. */
  readonly jobsPerRoot: number;
  /** Older records are deleted. */
  readonly maxAgeMs: number;
  /** Maximum size of a record. */
  readonly recordBytes: number;
  /** Whether the records of a root remain when it is deleted, until they are too old. */
  readonly keepAfterDeletion: boolean;
}

export const defaultJournal: JournalSettings = {
  jobsPerRoot: 20,
  maxAgeMs: 90 * 86_400_000,
  recordBytes: 128 * 1024,
  keepAfterDeletion: false,
};
