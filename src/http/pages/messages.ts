import type { PaymentStatus } from '../../contract/vocabulary.ts';
import type { CheckoutProblem } from '../../domain/checkout.ts';

/** All that a page says in one language. Where a field is concerned, the text names it by its label. */
export interface Wording {
  /** Follows the name of the emulator. */
  mark: string;
  testMode: string;
  merchant: string;
  pay: (merchant: string) => string;
  payTitle: (amount: string, merchant: string) => string;
  errorTitle: (title: string) => string;
  facts: { label: string; details: string; identifier: string; email: string };
  step: Record<'email' | 'code', string>;
  /** Heads the step. It must not contain a label: whoever looks for a field by its label finds one. */
  stepTitle: Record<'email' | 'code', string>;
  label: Record<'email' | 'code', string>;
  /** What the customer is to do, by mode. In the sandbox the value that it takes follows. */
  hint: Record<'sandbox' | 'live', Record<'email' | 'code', string>>;
  submit: { email: string; code: (amount: string) => string };
  changeEmail: string;
  resend: string;
  resent: string;
  cancel: string;
  next: {
    title: string;
    /** What follows on a step, by mode. */
    steps: Record<'sandbox' | 'live', Record<'email' | 'code', (merchant: string) => readonly string[]>>;
    assurance: (merchant: string) => string;
  };
  problems: Record<CheckoutProblem, string>;
  /** A wallet can fall short between the steps; then the field in sight is the code. */
  problemsAtCode: Partial<Record<CheckoutProblem, string>>;
  sandbox: { note: string; fill: Record<'email' | 'code', string> };
  panel: {
    region: string;
    title: string;
    note: string;
    delivery: string;
    settle: string;
    /** No name contains the word Cancel: a test that looks for that button finds one, also by a part of its name. */
    outcomes: Record<'approve' | 'cancel' | 'fail' | 'expire', string>;
    result: (status: string) => string;
  };
  /** What only an emulator would say below a live checkout; commands and addresses stand around it. */
  tip: { wallet: string; noWallet: string; code: string; orIn: string; inbox: string };
  status: Record<PaymentStatus, string>;
  closed: {
    title: Record<PaymentStatus | 'unknown', string>;
    /** The customer came (back) to a payment that was over. */
    earlier: Record<PaymentStatus, (merchant: string) => string>;
    /** The payment was settled just now and the page stays. */
    now: Record<PaymentStatus, (merchant: string) => string>;
    unknown: string;
    back: (merchant: string) => string;
  };
  refused: { title: string; text: string; back: string };
}

/** The texts of every page, by language. */
export const WORDING = {
  en: {
    mark: ': local emulator, no real money',
    testMode: 'Test mode',
    merchant: 'this merchant',
    pay: (merchant) => `Pay ${merchant}`,
    payTitle: (amount, merchant) => `Pay ${amount} to ${merchant}`,
    errorTitle: (title) => `Error: ${title}`,
    facts: { label: 'About this payment', details: 'For', identifier: 'Reference', email: 'Paying as' },
    step: { email: 'Step 1 of 2', code: 'Step 2 of 2' },
    stepTitle: { email: 'Who is paying?', code: 'Confirm the payment' },
    label: { email: 'E-mail', code: 'Verification code' },
    hint: {
      sandbox: { email: 'Pay with', code: 'Confirm with' },
      live: {
        email: 'The address of your wallet. We send a code to it, so that only you can pay.',
        code: 'We sent a code to this address. It is valid for 10 minutes.',
      },
    },
    submit: { email: 'Continue', code: (amount) => `Pay ${amount}` },
    changeEmail: 'Change e-mail',
    resend: 'Send a new code',
    resent: 'We sent a new code. The one before is no longer valid.',
    cancel: 'Cancel',
    next: {
      title: 'What happens next',
      steps: {
        sandbox: {
          email: (merchant) => [
            'You enter the test code.',
            'The payment counts as made.',
            `You return to ${merchant}.`,
          ],
          code: (merchant) => ['The payment counts as made.', `You return to ${merchant}.`],
        },
        live: {
          email: (merchant) => [
            'We send you a code.',
            'You enter it, and your wallet is charged.',
            `You return to ${merchant}.`,
          ],
          code: (merchant) => ['Your wallet is charged.', `You return to ${merchant}.`],
        },
      },
      assurance: (merchant) => `Nothing is charged before you confirm. The code is not shown to ${merchant}.`,
    },
    problems: {
      email_invalid: 'E-mail is not an address. Enter one like name@example.com.',
      email_not_test: 'E-mail is not the test address. Test mode takes only the one shown above.',
      wallet_unknown: 'E-mail does not belong to a wallet in this currency. Check it, or enter another one.',
      balance_too_small:
        'E-mail belongs to a wallet that does not hold enough for this payment. Enter another one.',
      code_wrong: 'Verification code is not right. Check it and enter it again.',
      code_expired: 'Verification code has expired. Ask for a new code and enter that one.',
    },
    problemsAtCode: {
      wallet_unknown:
        'Verification code is right, but there is no wallet in this currency any more. Change the e-mail to pay from another one.',
      balance_too_small:
        'Verification code is right, but the wallet does not hold enough for this payment. Change the e-mail to pay from another one.',
    },
    sandbox: {
      note: 'No wallet is charged.',
      fill: { email: 'Fill in test e-mail', code: 'Fill in test code' },
    },
    panel: {
      region: 'Simulator, not part of the page',
      title: 'simulator',
      note: 'Not part of the page',
      delivery: 'IPN and redirect',
      settle: 'Settle at once, without the steps above',
      outcomes: { approve: 'Approve', cancel: 'Abort', fail: 'Fail', expire: 'Expire' },
      result: (status) => `The payment becomes ${status}`,
    },
    tip: {
      wallet: 'can pay this. All wallets:',
      noWallet: 'No wallet can pay this. Fill one with',
      code: 'No mail was sent. Read the code with',
      orIn: 'or in the',
      inbox: 'inbox',
    },
    status: {
      pending: 'Pending',
      succeeded: 'Succeeded',
      canceled: 'Canceled',
      failed: 'Failed',
      expired: 'Expired',
    },
    closed: {
      title: {
        pending: 'Payment pending',
        succeeded: 'Payment complete',
        canceled: 'Payment canceled',
        failed: 'Payment failed',
        expired: 'Payment expired',
        unknown: 'Payment not found',
      },
      earlier: {
        pending: (merchant) => `This payment to ${merchant} still waits.`,
        succeeded: (merchant) => `This payment to ${merchant} is paid. You are not charged again.`,
        canceled: () => 'This payment was canceled. Nothing was charged.',
        failed: () => 'This payment failed. Nothing was charged.',
        expired: () => 'The time to pay is over. Nothing was charged.',
      },
      now: {
        pending: (merchant) => `This payment to ${merchant} still waits.`,
        succeeded: (merchant) => `Your payment to ${merchant} went through. You can close this page.`,
        canceled: () => 'Nothing was charged. You can close this page.',
        failed: () => 'The payment did not go through. Nothing was charged.',
        expired: () => 'The time to pay is over. Nothing was charged.',
      },
      unknown: 'There is no payment at this address. Check the link, or go back to the shop and start again.',
      back: (merchant) => `Back to ${merchant}`,
    },
    refused: {
      title: 'That did not work',
      text: 'Nothing was charged. Go back to the payment and try again.',
      back: 'Back to the payment',
    },
  },
  fr: {
    mark: '\u00a0: émulateur local, argent fictif',
    testMode: 'Mode test',
    merchant: 'ce marchand',
    pay: (merchant) => `Payer ${merchant}`,
    payTitle: (amount, merchant) => `Payer ${amount} à ${merchant}`,
    errorTitle: (title) => `Erreur\u00a0: ${title}`,
    facts: { label: 'Ce paiement', details: 'Objet', identifier: 'Référence', email: 'Vous payez avec' },
    step: { email: 'Étape 1 sur 2', code: 'Étape 2 sur 2' },
    stepTitle: { email: 'Qui paie\u00a0?', code: 'Confirmez le paiement' },
    label: { email: 'E-mail', code: 'Code de vérification' },
    hint: {
      sandbox: { email: 'Payez avec', code: 'Confirmez avec' },
      live: {
        email: 'L’adresse de votre portefeuille. Nous y envoyons un code, pour que vous seul puissiez payer.',
        code: 'Nous avons envoyé un code à cette adresse. Il est valable 10\u00a0minutes.',
      },
    },
    submit: { email: 'Continuer', code: (amount) => `Payer ${amount}` },
    changeEmail: 'Modifier l’e-mail',
    resend: 'Renvoyer un code',
    resent: 'Nouveau code envoyé. Le précédent n’est plus valable.',
    cancel: 'Annuler',
    next: {
      title: 'Et ensuite',
      steps: {
        sandbox: {
          email: (merchant) => [
            'Vous saisissez le code de test.',
            'Le paiement est réputé effectué.',
            `Vous revenez chez ${merchant}.`,
          ],
          code: (merchant) => ['Le paiement est réputé effectué.', `Vous revenez chez ${merchant}.`],
        },
        live: {
          email: (merchant) => [
            'Nous vous envoyons un code.',
            'Vous le saisissez, et votre portefeuille est débité.',
            `Vous revenez chez ${merchant}.`,
          ],
          code: (merchant) => ['Votre portefeuille est débité.', `Vous revenez chez ${merchant}.`],
        },
      },
      assurance: (merchant) =>
        `Rien n’est débité avant votre confirmation. Le code n’est pas montré à ${merchant}.`,
    },
    problems: {
      email_invalid: 'E-mail n’est pas une adresse. Saisissez-en une comme nom@example.com.',
      email_not_test:
        'E-mail n’est pas l’adresse de test. Le mode test n’accepte que celle indiquée ci-dessus.',
      wallet_unknown:
        'E-mail ne correspond à aucun portefeuille dans cette devise. Vérifiez-le ou saisissez-en un autre.',
      balance_too_small:
        'E-mail correspond à un portefeuille au solde insuffisant pour ce paiement. Saisissez-en un autre.',
      code_wrong: 'Code de vérification incorrect. Vérifiez-le et saisissez-le à nouveau.',
      code_expired: 'Code de vérification expiré. Demandez un nouveau code et saisissez-le.',
    },
    problemsAtCode: {
      wallet_unknown:
        'Code de vérification correct, mais il n’y a plus de portefeuille dans cette devise. Modifiez l’e-mail pour payer avec un autre.',
      balance_too_small:
        'Code de vérification correct, mais le solde du portefeuille est insuffisant pour ce paiement. Modifiez l’e-mail pour payer avec un autre.',
    },
    sandbox: {
      note: 'Aucun portefeuille n’est débité.',
      fill: { email: 'Remplir l’e-mail de test', code: 'Remplir le code de test' },
    },
    panel: {
      region: 'Simulateur, hors de la page',
      title: 'simulateur',
      note: 'Hors de la page',
      delivery: 'IPN et redirection',
      settle: 'Régler d’un coup, sans les étapes ci-dessus',
      outcomes: { approve: 'Approuver', cancel: 'Abandonner', fail: 'Échouer', expire: 'Expirer' },
      result: (status) => `Le paiement devient ${status}`,
    },
    tip: {
      wallet: 'peut payer. Tous les portefeuilles\u00a0:',
      noWallet: 'Aucun portefeuille ne peut payer. Pour en approvisionner un\u00a0:',
      code: 'Aucun message n’est parti. Le code se lit avec',
      orIn: 'ou dans la',
      inbox: 'boîte de réception',
    },
    status: {
      pending: 'En attente',
      succeeded: 'Réussi',
      canceled: 'Annulé',
      failed: 'Échoué',
      expired: 'Expiré',
    },
    closed: {
      title: {
        pending: 'Paiement en attente',
        succeeded: 'Paiement effectué',
        canceled: 'Paiement annulé',
        failed: 'Paiement échoué',
        expired: 'Paiement expiré',
        unknown: 'Paiement introuvable',
      },
      earlier: {
        pending: (merchant) => `Ce paiement à ${merchant} est toujours en attente.`,
        succeeded: (merchant) =>
          `Ce paiement à ${merchant} est effectué. Vous n’êtes pas débité une seconde fois.`,
        canceled: () => 'Ce paiement a été annulé. Rien n’a été débité.',
        failed: () => 'Ce paiement a échoué. Rien n’a été débité.',
        expired: () => 'Le délai de paiement est écoulé. Rien n’a été débité.',
      },
      now: {
        pending: (merchant) => `Ce paiement à ${merchant} est toujours en attente.`,
        succeeded: (merchant) =>
          `Votre paiement à ${merchant} a bien été effectué. Vous pouvez fermer cette page.`,
        canceled: () => 'Rien n’a été débité. Vous pouvez fermer cette page.',
        failed: () => 'Le paiement n’a pas abouti. Rien n’a été débité.',
        expired: () => 'Le délai de paiement est écoulé. Rien n’a été débité.',
      },
      unknown:
        'Il n’y a pas de paiement à cette adresse. Vérifiez le lien, ou retournez à la boutique et recommencez.',
      back: (merchant) => `Retour à ${merchant}`,
    },
    refused: {
      title: 'Cela n’a pas fonctionné',
      text: 'Rien n’a été débité. Revenez au paiement et recommencez.',
      back: 'Retour au paiement',
    },
  },
} satisfies Record<'en' | 'fr', Wording>;
