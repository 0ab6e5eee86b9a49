/**
 * Judges that are no mutant's only killer, and why that is right: what they look at cannot go wrong alone. The gate of the kill matrix lets exactly these
 * pass; a reason that is no longer needed is a finding of its test.
 */
export const SHARED_JUDGES: Readonly<Record<string, string>> = {};
