/** Settings of the role `reconciler`. */
export interface ReconcilerTuning {
  /** How often the reconciler looks whether Redis is still the one it knows. */
  readonly checkIntervalMs: number;
  /** Lease of the leader, by PostgreSQL's clock. */
  readonly leaseMs: number;
  /** Pause between two comparisons of the three ledgers. */
  readonly passIntervalMs: number;
  /**
   * What happened less than this ago may be on its way and is no difference. Longer than an order usually takes from Redis to PostgreSQL and back,
   * and than clocks differ.
   */
  readonly graceMs: number;
  /** False: differences are counted and told, nothing is changed. A rebuild is made all the same. */
  readonly repairs: boolean;
  /** After a rebuild the stock is let go in so many steps … */
  readonly reopenSteps: number;
  /** … with at least this between two of them, and only while the consumer keeps up. */
  readonly reopenStepMs: number;
  /** A step waits while more messages than this wait for the consumer. */
  readonly reopenLagMax: number;
  /** How long a rebuild waits for surviving reservations to reach PostgreSQL before it carries them over as pending. */
  readonly drainPatienceMs: number;
}

export const DEFAULT_RECONCILER: ReconcilerTuning = {
  checkIntervalMs: 250,
  leaseMs: 3_000,
  passIntervalMs: 5_000,
  graceMs: 5_000,
  repairs: true,
  reopenSteps: 8,
  reopenStepMs: 500,
  reopenLagMax: 200,
  drainPatienceMs: 10_000,
};
