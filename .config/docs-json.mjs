// test/docs/json-output.test.ts compares this with the output of the commands.

/** The output of each command with `--json`: a record of the API, or these fields. */
export const JSON_OF_COMMANDS = {
  start:
    'lines: first `event` (`ready`), `url`, `port`, `publicKey`, `secretKey`, `dashboardUrl`, `dataDir`, `controlToken`, `tlsCa`, `proxyPort`, `pid`; then one [SimEvent](#simevent) per line',
  exec: 'what its command prints',
  pay: '[Settled](#settled); with `--all`, `data` is a list of these',
  'payments list': '[PaymentList](#paymentlist)',
  'payments show':
    '[PaymentWithTimeline](#paymentwithtimeline); with `--curl`, `data` (each `delivery`, `curl`) and `nextCursor`; with `--har`, a HAR 1.2 document',
  'payments create': '[Payment](#payment)',
  'ipn list': '[DeliveryList](#deliverylist)',
  'ipn show': '[Delivery](#delivery)',
  'ipn resend': '[Delivery](#delivery)',
  'ipn fire': '[Delivery](#delivery); with `--times`, [DeliveryBatch](#deliverybatch)',
  'ipn verify':
    '`valid`, `authentic`, `reasons`, `identifier`, `amount`, `status`, `signature`, `signedText`, `foundText` (the text that was signed, if a common mistake explains the signature; otherwise null), `expected`, `mistake` (the name of that mistake; null if none), `fix`',
  'ipn listen':
    'lines: first `event` (`ready`), `url`, `port`, `forwardTo`, `pid`; then for each IPN `event` (`ipn`), `at`, `method`, `url`, `headers`, `body`, `verdict` (as `ipn verify`), `answered`',
  'keys show': '`merchant`, `publicKey`, `secretKey`',
  'keys generate': '`merchant`, `publicKey`, `secretKey`',
  'keys env':
    '`GATEWAY_SIM_URL`, `GATEWAY_SIM_PUBLIC_KEY`, `GATEWAY_SIM_SECRET_KEY`, `GATEWAY_SIM_INITIATE_URL`',
  'wallets list': '[WalletList](#walletlist)',
  'wallets fund': '[Wallet](#wallet)',
  'state reset':
    '`reset`, `url`, `counts` ([RecordCounts](#recordcounts)); if no emulator runs `reset`, `dataDir`, `backup`',
  'state export': '`file`, `counts` ([RecordCounts](#recordcounts)); with `-`, the [State](#state)',
  'state import': '`imported`, `url`, `counts` ([RecordCounts](#recordcounts))',
  'cards list': '[CardList](#cardlist)',
  'cards show': '[CardWithTransactions](#cardwithtransactions)',
  'cards create': '[CardWithTransactions](#cardwithtransactions)',
  'cards activate': '[CardWithTransactions](#cardwithtransactions)',
  'cards block': '[CardWithTransactions](#cardwithtransactions)',
  'cards cancel': '[CardWithTransactions](#cardwithtransactions)',
  'cards charge': '[CardMovement](#cardmovement)',
  'cards fund': '[CardMovement](#cardmovement)',
  'faults list': '[FaultList](#faultlist)',
  'faults set': '[Fault](#fault)',
  'faults clear': '[ClearedFaults](#clearedfaults)',
  'clock show': '[Clock](#clock)',
  'clock advance': '[Clock](#clock)',
  'clock freeze': '[Clock](#clock)',
  'clock resume': '[Clock](#clock)',
  audit: '[AuditReport](#auditreport); with `--list`, `cases` is a list of [AuditCaseInfo](#auditcaseinfo)',
  reconcile: '`data` (each `identifier`, `problem`, `detail`)',
  conform:
    '`target`, `profile`, `agree` (number of lines that match), `differ` (each `id`, `expected`, `got`), `causes` (of the differences, largest first: each `cause`, `ids`), `unseen` (each `id`, `why`)',
  status: '[Status](#status)',
  stop: '`stopped`, `url`, `pid`',
  wait: '`ready`, `url`',
  inbox: '[MessageList](#messagelist)',
  logs: 'lines: one [SimEvent](#simevent) per line; if no emulator runs, without requests and with an empty `checkoutUrl`',
  open: '`url`',
  init: '`files`',
  docs: '`data` (a list of `topic`, `title`); with a topic `topic`, `title`, `text`',
  openapi: 'the OpenAPI document; with `--out`, `file`',
  completion: '`shell`, `script`',
};
