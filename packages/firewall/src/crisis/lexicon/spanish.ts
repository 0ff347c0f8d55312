/** Spanish words by concept. */
import type { Lexicon } from '../reading/concepts.ts';

export const spanish: Lexicon = {
  want: 'quiero quiere quieres quieren quería querría ojalá preferiría prefiero prefiere preferirías deseo desearía mejor ganas pienso piensa pensando planea planeo decidido gustaría',
  die: 'morir morirme morirse morirte muerta muerto muriera muriese muertos muertas',
  not: 'no sin nunca nadie ningún ninguna nada tampoco',
  live: 'vivir viviendo vivo viva despertara despierte existir existiendo vivió viví vivido',
  kill: 'matarme matarse matarte ahorcarme ahorcarse ahorcarte suicidarme pegarme matar ahorcar envenenarme colgarme',
  murder:
    'matar matará mataré mata mate matarme matarla matarlo matarte matarnos apuñalar~ apuñalo apuñalará disparar~ dispararé degollar~ asesinar~ asesinará estrangular~ acuchillar~ pegarle',
  self: 'me se te mismo misma',
  person:
    'me te lo nos mujer marido esposa hijos madre padre vecino jefe profesor ese esa tipo todos matarme matarla matarlo apuñalarlo apuñalarla bebé hijo hija niño niña alumnos compañeros novia novio ex pareja chica chico colega clase gente bebe hombre',
  threat:
    'dice dijo amenaza amenazó amenazado amenazando jura juró voy va mañana noche prometió si dijeron hoy grita gritando puerta lista viernes lunes valor encontrar',
  weapon: 'pistola cuchillo navaja arma armas soga cuerda rifle escopeta machete cuchilla cuchillas',
  drug: 'pastilla pastillas píldoras somníferos medicamentos medicación medicinas analgésicos insulina lejía veneno antidepresivos calmantes paracetamol ibuprofeno tranquilizantes',
  swallow:
    'tomé tomar tomado tomó tragué tragado tragar tragó tomarme ingerido ingirió bebí beber bebió bebido tomes tomando',
  much: 'entero entera caja frasco bote montón puñado demasiadas demasiados sobredosis blíster',
  cut: 'corté cortar cortarme cortado corto cortando cortó corta quemé quemarme rajé rajarme cortaremos cortaré cortarte rajar degollar',
  body: 'brazo brazos muñeca muñecas venas vena muslos muslo antebrazo piel garganta cuello piernas',
  height: 'azotea puente balcón tejado cornisa barandilla precipicio vías ventana edificio andén borde',
  jump: 'saltar salto salte saltará saltó tirarme tirarse tirar lanzarme lanzarse arrojar~',
  ambulance: 'ambulancia ambulancias urgencias paramédicos bomberos policía',
  call: 'llama llame llamar llamo llamado llamen llamé manda mandar mandado mandé enviar envío enviado envié pide pidan avisado avisé camino viene vienen va van lleve lleven llevar vecino',
  chest: 'pecho tórax esternón',
  press: 'presiona presione presionar aprieta apriete comprime comprima empuje empuja',
  pain: 'dolor dolores opresión duele presión',
  harm: 'daño hacerme lastimarme lastimes lastimarse lastimarte herirme herirte autolesion~ dañarme lastimar herir golpeo golpearme araño',
  life: 'vida',
  end: 'acabar acabo acabaré terminar terminaré quitarme quitarse quitarte quitó fin quito quité acabe',
  own: 'mi tu su mía propia me se te la',
  worth: 'vale importa importante valiosa valiosas merece',
  down: 'suelta suelte baja baje deja deje tira guarda soltar dejar aléjate aléjese apártate atrás',
  stop: 'deja dejar deje suspenda suspende suspender abandona',
  read: 'carta lean leas leáis lea leyendo testamento',
  gone: 'perdónenme perdónanme perdóname muerto muerta culpa ido adiós despido',
  fun: 'risa hambre aburrimiento vergüenza ganas sueño calor tarta chocolate jaja jajaja jajajaja',
  every: 'todas todos toda todo partes',
  how: 'cómo manera maneras forma método métodos buscar busco googleo',
  fear: 'miedo asustada asustado pánico temo terror',
  tire: 'harto harta cansado cansada odio sentido inútil insoportable asco bastante suficiente',
  choke:
    'atraganta atragantando atragantado asfixia ahoga ahogando inconsciente desmayó desmayado convulsiona convulsiones sangra sangrando infarto desangra responde',
  abuse: 'golpea golpeó golpeaba violó viola abusa abusó ahorca estrangula agredió pega pegó maltrata',
  hospital: 'hospital clínica',
  now: 'ahora ya inmediatamente urgente rápido enseguida',
  gun: 'pistola rifle escopeta revólver bomba arma granada',
  hoard: 'guardando guarda guardo junta juntando acumula acumulando ahorrando',
  blood: 'sangre',
};
