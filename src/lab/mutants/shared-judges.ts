/**
 * Judges that are no mutant's only killer, and why. The gate of the kill matrix lets exactly these pass. That they see at all is shown by corrupted facts
 * (`check --corrupt`), one kind of corruption each: `shared-judges.test.ts`.
 */
const SEEN_BY_OTHERS = 'no design that the papers warn of breaks it alone';

export const SHARED_JUDGES: Readonly<Record<string, string>> = {
  'no-oversell': 'a unit that two hold is one too many in the sums as well: stock-conservation sees each of its mutants too',
  'one-order-per-user': 'Redis has one mark for a user: of two orders one has none, which redis-conservation sees in each of its mutants too',
  'one-answer-per-request': 'a second reservation of a request takes a unit that nobody can give back: redis-conservation sees its mutants too',
  'no-lost-reservation': 'whoever was let in was also told so: of a reservation that gets no end the promise is broken too, which honest-answers sees in each of its mutants',
  'fail-closed': 'whoever is let in while he must not be gets an answer that nothing keeps (honest-answers), or a second reservation beside the one that a failover forgot (one-answer-per-request)',
  'release-once': 'a unit that comes back twice is one too many, in the ledger (ledger-balanced) or in Redis (redis-conservation)',
  'paid-never-cancelled': 'a paid order that ends, or an ended one that is paid, takes an edge that there is not: legal-state-path sees its mutant too',
  'stock-conservation': `${SEEN_BY_OTHERS}: a unit that does not add up is held twice (no-oversell), released twice (release-once) or missing from Redis too`,
  'legal-state-path': `${SEEN_BY_OTHERS}: every forbidden edge of an order or a unit is also a payment, a release or a holder too many`,
  'admission-bounded': 'its wrong design is a limit that is too wide, which is a setting and no design; the scenario recovery-flood asks for it',
  'lottery-kept': 'the mutants are about stock and orders; the small runs have no waiting room',
};
