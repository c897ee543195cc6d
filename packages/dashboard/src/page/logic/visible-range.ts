export interface ListGeometry {
  /** Pixels from the top of the list to the top of the screen; negative if the list begins below it. */
  readonly top: number
  /** Pixels of the screen. */
  readonly height: number
  readonly rowHeight: number
  readonly count: number
}

export interface VisibleRange {
  readonly first: number
  /** Exclusive. */
  readonly end: number
}

/** Rows are drawn in steps of this many, so that most scroll events change nothing. */
const STEP_ROWS = 8

/** The rows to draw: those on the screen and a screen above and below, so that fast scrolling shows no gap. */
export function visibleRange({ top, height, rowHeight, count }: ListGeometry): VisibleRange {
  const first = Math.floor((top - height) / rowHeight / STEP_ROWS) * STEP_ROWS
  const end = Math.ceil((top + 2 * height) / rowHeight / STEP_ROWS) * STEP_ROWS
  const last = Math.max(0, Math.min(count, end))
  return { first: Math.min(Math.max(0, first), last), end: last }
}

/** How far to scroll so that a row is on the screen; 0 if it is. `inset` pixels at the top are covered by headers. */
export function scrollToRow(index: number, { top, height, rowHeight }: ListGeometry, inset: number): number {
  const start = index * rowHeight - top
  if (start < inset) return start - inset
  const beyond = start + rowHeight - height
  return beyond > 0 ? beyond : 0
}
