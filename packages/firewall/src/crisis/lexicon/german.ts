/** German words by concept. */
import type { Lexicon } from '../reading/concepts.ts';

export const german: Lexicon = {
  want: 'will willst wollen wolle wollte möchte möchten möchtest liebsten lieber wäre wünschte wünsche besser denke denkt plane bereit vorhabe wünscht',
  die: 'sterben tot gestorben tod tote toten',
  not: 'nicht kein keine keinen niemand nie niemals ohne nichts',
  live: 'leben weiterleben aufwachen existieren weitermachen weiterzuleben gelebt',
  kill: 'umbringen umzubringen töten erhängen erhänge aufhängen erschießen vergiften ertränken erstechen umbringe umbringt umbrächte',
  murder:
    'umbringen umbringt umbringe umzubringen tötet töte erschießt erschieße erschießen ersticht erstech~ stech steche abstech~ abzustechen ermord~ erwürg~ abschlacht~ abknall~ knall',
  self: 'mich sich dich mir dir selbst selber',
  person:
    'mich dich ihn sie uns euch ihm ihr alle frau mann kinder mutter vater chef nachbarn lehrer leute jeden er baby kleinkind sohn tochter kind schüler mitschüler freundin freund ex partner mädchen junge kollege klasse leuten',
  threat:
    'sagt sagte gesagt droht drohte gedroht bedroht drohen drohung wird werde will morgen heute nachts schwört geschworen wenn angekündigt schreit brüllt tür liste freitag montag plant steht mut finden kriegen',
  weapon: 'messer pistole gewehr waffe waffen rasierklinge rasierklingen klinge strick seil schlinge axt',
  drug: 'tablette tabletten pillen schlaftabletten schlafmittel medikamente medikament schmerzmittel schmerztabletten antidepressiva insulin bleichmittel gift rohrreiniger paracetamol ibuprofen herztabletten',
  swallow:
    'geschluckt schlucken schlucke schluckt genommen nehmen eingenommen nimm nehme nimmt getrunken trinken heruntergeschluckt eingeworfen',
  much: 'ganze ganzen packung schachtel viele flasche handvoll überdosis gesamte sämtliche',
  cut: 'ritze ritzen geritzt aufgeritzt schneide schneiden geschnitten aufgeschnitten aufschneiden aufschlitz~ verbrannt verbrenne schnitt schlitzen schlitze schlitz aufschlitzen',
  body: 'arm arme armen handgelenk handgelenke pulsadern pulsader oberschenkel haut unterarm unterarme kehle adern',
  height:
    'dach brücke geländer balkon klippe gleis gleise gleisen fenster hochhaus dachkante zug bahnsteigkante bahnsteig kante abgrund',
  jump: 'springen springe springt spring gesprungen runterspring~ hinunterspring~ herunterspring~ stürzen werfen',
  ambulance:
    'krankenwagen rettungswagen rettungsdienst notarzt notruf notaufnahme telefonseelsorge feuerwehr rettung polizei',
  call: 'ruf rufe rufen ruft gerufen rief wähle wählt wählen schicke schick geschickt alarmiert verständigt verständige brauchst braucht informiert anrufen unterwegs kommt kommen bringen bringt nachbarn fahren',
  chest: 'brustkorb brust brustbein brustkorbs',
  press: 'drücken drücke drück drückt gedrückt pressen',
  pain: 'schmerz schmerzen brustschmerzen engegefühl druck',
  harm: 'antun antue antut anzutun antäte angetan verletzen verletze verletzt schaden wehtun weh schlage kopf beiße kratze ritze ritzen ritzt',
  life: 'leben',
  end: 'beenden beende beendet schluss ende nehmen',
  own: 'mein meinem meinen dein deinem deinen ihr sein seinem ihrem eigenes mir dir sich euer',
  worth: 'wert wichtig kostbar zählt wertvoll',
  down: 'weg hin runter nieder ab hinlegen weglegen legen leg zurück',
  stop: 'absetzen setz abzusetzen weglassen lass aufhören hör verzichte',
  read: 'brief lest liest abschiedsbrief zeilen nachricht testament',
  gone: 'tot verzeiht verzeih fort abschied schuld',
  fun: 'lachen langeweile hunger neugier scham hitze kuchen durst haha hihi kaffee',
  every: 'alle sämtliche ganzen überall',
  how: 'wie methode methoden weg wege schmerzlos google suche',
  fear: 'angst fürchte panik erschrocken',
  tire: 'müde satt leid sinnlos hasse sinn wertlos hoffnungslos unerträglich genug lange',
  choke:
    'erstickt verschluckt bewusstlos ohnmächtig krampfanfall krampft blutet zusammengebrochen schlaganfall herzinfarkt verblutet ertrinkt ansprechbar notfallspritze',
  abuse: 'schlägt schlug verprügelt vergewaltigt vergewaltigte missbraucht würgt würgte angegriffen prügelt',
  hospital: 'krankenhaus klinik notfallambulanz spital',
  now: 'sofort jetzt schnell umgehend unverzüglich',
  gun: 'pistole gewehr schusswaffe revolver bombe granate waffe',
  hoard: 'sammelt sammle gesammelt spart hortet aufgehoben aufbewahrt',
  blood: 'blut',
};
