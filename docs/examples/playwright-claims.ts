import { claim } from '@tenure/claims/client'

interface Playwright<Browser> {
  readonly playwright: { readonly chromium: { connect(endpoint: string): Promise<Browser> } }
}

/** A browser from the pool `chrome`, which lives as long as the worker of Playwright that uses it. */
export async function claimedBrowser<Browser extends { close(): Promise<void> }>(
  { playwright }: Playwright<Browser>,
  use: (browser: Browser) => Promise<void>,
): Promise<void> {
  await using held = await claim({ pool: 'chrome', ttl: '5m' })
  const browser = await playwright.chromium.connect(held.data['endpoint'] ?? '')
  await use(browser)
  await browser.close()
}
