/** German words by concept. */
import type { Lexicon } from '../reading/concepts.ts';

export const german: Lexicon = {
  want: 'will willst wollen wolle wollte möchte möchten möchtest liebsten lieber wäre wünschte wünsche besser denke denkt plane bereit vorhabe wünscht',
  die: 'sterben tot gestorben tod',
  not: 'nicht kein keine keinen niemand nie niemals ohne nichts',
  live: 'leben weiterleben aufwachen existieren weitermachen weiterzuleben',
  kill: 'umbringen umzubringen töten erhängen erhänge aufhängen erschießen vergiften ertränken erstechen umbringe umbringt umbrächte',
  murder:
    'umbringen umbringt umbringe umzubringen tötet töte erschießt erschieße erschießen ersticht erstech~ stech steche abstech~ abzustechen ermord~ erwürg~ abschlacht~ abknall~ knall',
  self: 'mich sich dich mir dir selbst selber',
  person: 'mich dich ihn sie uns euch ihm ihr alle frau mann kinder mutter vater chef nachbarn lehrer leute jeden',
  threat:
    'sagt sagte gesagt droht drohte gedroht bedroht drohen drohung wird werde will morgen heute nachts schwört geschworen wenn angekündigt',
  weapon: 'messer pistole gewehr waffe waffen rasierklinge rasierklingen klinge strick seil schlinge axt',
  drug: 'tablette tabletten pillen schlaftabletten schlafmittel medikamente medikament schmerzmittel schmerztabletten antidepressiva insulin bleichmittel gift rohrreiniger paracetamol ibuprofen herztabletten',
  swallow:
    'geschluckt schlucken schlucke schluckt genommen nehmen eingenommen nimm nehme nimmt getrunken trinken heruntergeschluckt eingeworfen',
  much: 'ganze ganzen packung schachtel viele flasche handvoll überdosis gesamte sämtliche',
  cut: 'ritze ritzen geritzt aufgeritzt schneide schneiden geschnitten aufgeschnitten aufschneiden aufschlitz~ verbrannt verbrenne schnitt',
  body: 'arm arme armen handgelenk handgelenke pulsadern pulsader oberschenkel haut unterarm unterarme kehle adern',
  height: 'dach brücke geländer balkon klippe gleis gleise gleisen fenster hochhaus dachkante zug',
  jump: 'springen springe springt spring gesprungen runterspring~ hinunterspring~ herunterspring~ stürzen werfen',
  ambulance: 'krankenwagen rettungswagen rettungsdienst notarzt notruf notaufnahme telefonseelsorge feuerwehr rettung',
  call: 'ruf rufe rufen ruft gerufen rief wähle wählt wählen schicke schick geschickt alarmiert verständigt verständige brauchst braucht informiert anrufen',
  chest: 'brustkorb brust brustbein brustkorbs',
  press: 'drücken drücke drück drückt gedrückt pressen',
  pain: 'schmerz schmerzen brustschmerzen engegefühl druck',
  harm: 'antun antue antut anzutun antäte angetan verletzen verletze verletzt schaden wehtun weh',
  life: 'leben',
  end: 'beenden beende beendet schluss ende nehmen',
  own: 'mein meinem meinen dein deinem deinen ihr sein seinem ihrem eigenes mir dir sich euer',
  worth: 'wert wichtig kostbar zählt wertvoll',
  down: 'weg hin runter nieder ab hinlegen weglegen legen leg',
  stop: 'absetzen setz abzusetzen weglassen lass aufhören hör verzichte',
  read: 'brief lest liest abschiedsbrief zeilen nachricht',
  gone: 'tot verzeiht verzeih fort abschied schuld',
  fun: 'lachen langeweile hunger neugier scham hitze kuchen durst haha hihi kaffee',
  every: 'alle sämtliche ganzen',
};
